"""Destinations that push: events a second to a queue, a channel and a fast endpoint, beside plain pull + acknowledge."""

from tests.benchmarks import place


def main() -> None:
    with place.database() as url:
        print(place.python(url, "-m", "tests.benchmarks.push_alone"))
