"""`python -m tests.benchmarks NAME …` (all when none is named); it makes a database of its own beside DATABASE_URL's.

What is measured beside others needs them: `pip install -e '.[benchmarks]'`.
"""

import argparse
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Each names a module beside this one with a `main()` that prints its table.
NAMES = ("gateway", "wakeups", "consumers", "queues", "queue_depth", "push", "log", "channels", "pages")


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="which")
    for name in parser.parse_args().names or NAMES:
        print(f"\n{name}\n", flush=True)
        importlib.import_module(f"tests.benchmarks.{name}").main()


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]
    main()
