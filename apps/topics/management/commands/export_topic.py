"""`manage.py export_topic NAME FILE`: a topic's history as JSON lines of CloudEvents."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.topics.management.bar import Bar
from apps.topics.selectors import resolve
from apps.topics.transfer import write_history
from core.errors import DomainError


class Command(BaseCommand):
    help = "Writes what a topic holds, hot and cold, to FILE (.zst and .gz compress). Broken off, the same call goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("topic")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = write_history(resolve.topic(options["topic"]), options["file"], Bar("events"))
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count:,} events in {options['file']}")
