"""The project's settings with a few plain views beside its own."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.plain"
