"""The user PostgreSQL runs as: it refuses root, so root lends it a uid of its own (other daemons share `nobody`)."""

import os
import pwd
import stat
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Numbers that neither distributions nor systemd give to anybody, and that fit into a container's user namespace.
FIRST, COUNT = 60706, 478


@dataclass(frozen=True)
class PrivateUser:
    """Does nothing for a normal user, who runs PostgreSQL as himself."""

    uid: int | None

    @classmethod
    def of(cls, home: Path) -> "PrivateUser":
        """The same one for the life of the home, wherever it is moved: the home's group says so."""
        if os.geteuid() != 0:
            return cls(None)
        group = home.stat().st_gid
        return cls(group if FIRST <= group < FIRST + COUNT else FIRST + zlib.crc32(os.fsencode(home)) % COUNT)

    def spawn_options(self, as_nobody: bool = False) -> dict[str, Any]:
        """For subprocess. What makes a cluster insists on a uid with a passwd entry: it is nobody, in the private group."""
        if self.uid is None:
            return {}
        return {"user": pwd.getpwnam("nobody").pw_uid if as_nobody else self.uid, "group": self.uid, "extra_groups": []}

    def own(self, path: Path, as_nobody: bool = False) -> None:
        if self.uid is not None:
            os.chown(path, self.spawn_options(as_nobody)["user"], self.uid)

    def own_tree(self, folder: Path) -> None:
        if self.uid is not None:
            for parent, _, names in os.walk(folder):
                for path in (parent, *(os.path.join(parent, name) for name in names)):
                    os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def let_into(self, home: Path) -> None:
        """The group may pass through the home, not list it; through the folders above everybody may, if that was closed."""
        if self.uid is None:
            return
        os.chown(home, 0, self.uid)
        home.chmod(0o710)
        self._open_way(home)

    def let_run(self, package: Path) -> None:
        """A strict umask at installation leaves programs that only root can start."""
        if self.uid is None:
            return
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists() and not folder.stat().st_mode & stat.S_IXOTH:
                _make_readable(folder)
        self._open_way(package)

    def _open_way(self, path: Path) -> None:
        for parent in path.parents:
            mode = parent.stat().st_mode
            if not mode & stat.S_IXOTH:
                parent.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
                print(
                    f"towpath: others may now pass through {parent} (not list it): PostgreSQL cannot run as root",
                    file=sys.stderr,
                )


def _make_readable(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for path in (Path(parent), *(Path(parent, name) for name in names)):
            mode = stat.S_IMODE(path.stat().st_mode)
            path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))
