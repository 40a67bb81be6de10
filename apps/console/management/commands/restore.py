"""`manage.py restore FOLDER`: a dump into an empty installation."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.console.operations import prepare
from apps.console.operations.restore import NotRestored, restore
from core.errors import DomainError


class Command(BaseCommand):
    help = "Restores what `dump` wrote, into an installation that holds no topics, queues or channels yet."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare.reach_database()
            prepare.migrate(0)
            manifest = restore(options["folder"].resolve())
        except (prepare.Unfit, NotRestored, DomainError, OSError) as error:
            raise CommandError(str(error)) from None
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(f"Restored {rows:,} rows and {manifest['objects']:,} segments")
