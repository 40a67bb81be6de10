"""Runs a Python module that ends when its supervisor is gone: `python -m local.tether FD MODULE ARGUMENTS…`.

FD is the reading end of a pipe that only the supervisor can write to: its end of file is the supervisor's death.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE_SECONDS = 10.0


def main() -> None:
    descriptor, module, *arguments = sys.argv[1:]
    threading.Thread(target=_watch, args=(int(descriptor),), name="tether", daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _watch(descriptor: int) -> None:
    while os.read(descriptor, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    # Own session: its workers go with it.
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
