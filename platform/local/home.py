"""HOME: everything one installation keeps. Private to its owner; one `up` at a time."""

import fcntl
import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

from local.bootstrap import ROOT


@dataclass
class Home:
    path: Path
    _lock: int | None = None

    @classmethod
    def chosen(cls, path: str | None = None) -> "Home":
        """By argument, else TOWPATH_HOME, else .towpath beside manage.py."""
        return cls(Path(path or os.environ.get("TOWPATH_HOME") or ROOT / ".towpath").resolve())

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            owner = self.path.stat().st_uid
            if owner != os.geteuid():
                sys.exit(
                    f"{self.path} belongs to user {owner}: start Towpath as that user, or choose another home (--home)."
                )
            # As root the group may pass: it is the private user's under whom PostgreSQL runs.
            self.path.chmod(self.path.stat().st_mode & 0o710)
            for folder in ("logs", "broker/queue", "broker/processed", "broker/control"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            sys.exit(f"The home {self.path} cannot be used: {error}")

    def lock(self) -> bool:
        """True for the one holder. The lock ends with the process, however it ends."""
        if self._lock is None:
            descriptor = os.open(self / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            self._lock = descriptor
        return True

    def is_running(self) -> bool:
        if not (self / "lock").exists():
            return False
        free = self.lock()
        self.unlock()
        return not free

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def secret_key(self) -> str:
        return os.environ.get("SECRET_KEY") or self.secret("secret-key")

    def secret(self, name: str) -> str:
        """A random text that stays the same from its first use on."""
        try:
            if text := (self / name).read_text().strip():
                return text
        except FileNotFoundError:
            pass
        self.write_private(name, secrets.token_urlsafe(50))
        return (self / name).read_text().strip()

    def write_private(self, name: str, text: str) -> None:
        """Whole or not at all, and never readable by others in between."""
        new = self / f"{name}.new"
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self / name)

    def remember(self, runtime: dict[str, str]) -> None:
        """What other commands need to find the running `up` (read by config/settings.py)."""
        self.write_private("runtime.json", json.dumps(runtime, indent=2))

    def forget(self) -> None:
        (self / "runtime.json").unlink(missing_ok=True)

    def forget_what_no_longer_runs(self) -> None:
        """After kill -9 the file still names a database that is no longer there."""
        if os.access(self / "runtime.json", os.W_OK) and not self.is_running():
            self.forget()
