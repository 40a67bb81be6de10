"""`manage.py import_topic NAME FILE`: JSON lines of CloudEvents into a topic."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.topics.management.bar import Bar
from apps.topics.models import Import
from apps.topics.operations.create import topic_for_use
from apps.topics.operations.import_part import begin, finish, import_part
from apps.topics.selectors.resolve import TopicRef
from apps.topics.transfer import digest, read_history
from core.clock import rfc3339
from core.errors import DomainError, Uncertain


class Command(BaseCommand):
    help = "Appends events from FILE (.zst, .gz or plain) in their order. Broken off, the same call goes on exactly there."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("topic")
        parser.add_argument("file", type=Path)
        parser.add_argument("--again", action="store_true", help="from the beginning, also of a file that is in already")

    def handle(self, *args: Any, **options: Any) -> None:
        name, file = options["topic"], options["file"]
        try:
            topic = topic_for_use(name)
            row = begin(topic, digest(file), options["again"])
            if row.finished_at is not None:
                self.stdout.write(
                    f"{file} is in {name} already, since {rfc3339(row.finished_at)}: {row.events:,} events."
                    " Import it with --again to have them twice."
                )
                return
            count = self._import(topic, row, file)
        except Uncertain:
            raise CommandError("The database went away. The same call goes on exactly where it was.") from None
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count:,} events into {name}")

    def _import(self, topic: TopicRef, row: Import, file: Path) -> int:
        if row.lines:
            self.stderr.write(f"Going on behind line {row.lines:,}.")
        before = row.events
        for items, lines in read_history(file, row.lines, Bar("bytes")):
            import_part(topic, row, items, lines)
        finish(row)
        return row.events - before
