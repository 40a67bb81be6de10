"""`manage.py dump FOLDER`: the whole installation, also while it runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.console.operations.dump import dump
from core.errors import DomainError


class Command(BaseCommand):
    help = "Writes the whole installation, hot and cold, into a folder that is not there yet. It holds secrets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = dump(options["folder"].resolve())
        except FileExistsError:
            raise CommandError(f"{options['folder']} holds something already.") from None
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from None
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(f"Dumped {rows:,} rows and {manifest['objects']:,} segments to {options['folder']}")
