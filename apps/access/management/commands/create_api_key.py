"""manage.py create_api_key NAME --scope read:events [--resource 'orders.*'] …: the key alone on standard output."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.access import operations
from apps.access.management.arguments import add_grants
from core.clock import parse_time
from core.errors import DomainError


class Command(BaseCommand):
    help = "Makes an API key and prints it, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_grants(parser)
        parser.add_argument("--expires", help="an RFC 3339 time, as 2027-01-01T00:00:00Z")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            expires_at = parse_time(options["expires"], "--expires") if options["expires"] else None
            _, token = operations.create_api_key(options["name"], options["grants"], expires_at=expires_at)
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(token)
