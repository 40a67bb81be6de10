"""manage.py create_oauth_client NAME --scope … [--resource …]: its id and secret as JSON on standard output."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.access import operations
from apps.access.management.arguments import add_grants
from core.errors import DomainError


class Command(BaseCommand):
    help = "Makes an OAuth 2 client for the client credentials grant and prints its secret, once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_grants(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            client, secret = operations.create_oauth_client(options["name"], options["grants"])
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(json.dumps({"client_id": client.application.client_id, "client_secret": secret}))
