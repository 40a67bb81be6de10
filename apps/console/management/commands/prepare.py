"""What a database needs before the platform's processes start: `manage.py prepare`, safe to run anywhere at any time."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.console.operations import prepare


class Command(BaseCommand):
    help = "Makes the database if it may, migrates it, and with --first-run gives an empty one its first admin and API key."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--first-run", action="store_true", help="write HOME/admin-password and HOME/api-key")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare.reach_database()
        except prepare.Unfit as error:
            raise CommandError(str(error)) from None
        prepare.migrate(options["verbosity"])
        if options["first_run"]:
            prepare.first_run()
        try:
            prepare.make_broker_folders()
        except prepare.Unfit as error:
            self.stderr.write(str(error))  # no reason to stop a roll-out: it may run elsewhere than beat and worker
