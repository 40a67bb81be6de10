"""`manage.py forward`: pushes the events of destinations of type WEBHOOK, QUEUE and CHANNEL, until SIGTERM."""

import asyncio
import signal
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.destinations.forward.loop import Forwarder
from apps.destinations.operations.sight import tell_sightings_regularly
from core import notices, secret_key


class Command(BaseCommand):
    help = "Pushes events to webhooks, queues and channels. Any number of these may run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--threads", type=int, default=4, help="how many batches are in hand at once (4)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            secret_key.require()
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from None
        tell_sightings_regularly()
        asyncio.run(forward(options["threads"]))
        notices.flush()


async def forward(threads: int) -> None:
    forwarder = Forwarder(threads)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, forwarder.stop)
    await forwarder.run()
