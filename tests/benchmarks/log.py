"""The log as it fills: appends, trims, and pages at random offsets, cold and hot."""

import tempfile

from tests.benchmarks import place


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder, place.database() as url:
        print(place.python(url, "-m", "tests.benchmarks.log_alone", folder))
