"""`manage.py import_topic NAME FILE`: JSON lines of CloudEvents into a topic."""

import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.topics.items import Item
from apps.topics.management.bar import Bar
from apps.topics.operations.append import append
from apps.topics.operations.outcomes import Refused
from apps.topics.transfer import read_history
from core.errors import DomainError, TooLarge

PATIENCE = 60
PAUSE = 1.0


class Command(BaseCommand):
    help = "Appends events from FILE (.zst, .gz or plain) in their order. Broken off, the same call goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("topic")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        count = 0
        try:
            for items, note in read_history(options["file"], Bar("bytes")):
                self._append(options["topic"], items)
                note()
                count += len(items)
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count:,} events into {options['topic']}")

    def _append(self, topic: str, items: Sequence[Item]) -> None:
        """What is refused for now is tried again, group by group, so that no order within a partition is lost."""
        for _ in range(PATIENCE):
            appended = append(topic, items)
            refused = {number: found.error for number, found in appended.outcomes.items() if isinstance(found, Refused)}
            if not refused:
                return
            error = next(iter(refused.values()))
            if isinstance(error, TooLarge):
                raise error
            items = [item for item, number in zip(items, appended.partitions, strict=True) if number in refused]
            time.sleep(PAUSE)
        raise error
