"""What clients send about destinations."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from apps.channels.names import check_channel, kind_of
from apps.cursors.api import schemas as cursors
from apps.cursors.api.schemas import At
from apps.cursors.operations import Filter as Chosen
from apps.cursors.operations import Limits
from apps.destinations.forward.fill import check_key, check_template, is_fixed
from apps.destinations.operations.change import checked_unsettled
from apps.destinations.webhooks.address import check_url
from apps.destinations.webhooks.signing import check_secret
from apps.leases.operations.acknowledge import Failure
from core import parse
from core.clock import parse_time
from core.errors import InvalidField, InvalidParameter
from core.names import check_name, check_worker
from core.notes import Note, note
from core.sequence import parse_sequence

Window = Annotated[int, Meta(ge=1, le=10_000)]
Unsettled = Annotated[int, Meta(ge=1, le=1_000_000)]
Deliveries = Annotated[int, Meta(ge=0, le=1_000)]
Visibility = Annotated[int, Meta(ge=1, le=600)]
Delay = Annotated[int, Meta(ge=0, le=2_592_000)]
Generation = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Pattern = Annotated[str, Meta(min_length=1, max_length=1_000)]
Prefix = Annotated[str, Meta(min_length=1, max_length=2_048)]
Ordering = Literal["none", "partition"]
TARGETS = ("webhook", "queue", "channel")


class Filter(parse.Body, frozen=True):
    """Events that match all that is given. In types `*` is any run of characters, and case counts."""

    types: Annotated[list[Pattern], Meta(min_length=1, max_length=100)] | None = None
    subject_prefix: Prefix | None = None
    source_prefix: Prefix | None = None

    def chosen(self) -> Chosen:
        return Chosen(self.types, self.subject_prefix, self.source_prefix)


class QueueTarget(parse.Body, frozen=True):
    """Where each event goes. In both `{subject}`, `{type}`, `{id}` and `{partitionkey}` stand for the event's own."""

    queue: str
    group_key: str | None = None

    def checked(self) -> dict[str, Any]:
        """As it is stored and shown. Raises InvalidField."""
        check_template(self.queue, "queue.queue", check_name)
        if self.group_key is not None:
            check_template(self.group_key, "queue.groupKey", check_key)
        return {"queue": self.queue, "groupKey": self.group_key}


class WebhookTarget(parse.Body, frozen=True):
    """An endpoint. `rate` is requests a second, `concurrency` requests at once, both for each forwarder."""

    url: str
    secret: str | None = None
    batch: bool = False
    timeout_seconds: Annotated[int, Meta(ge=1, le=60)] = 15
    concurrency: Annotated[int, Meta(ge=1, le=50)] = 4
    rate: Annotated[int, Meta(ge=1, le=10_000)] | None = None

    def checked(self) -> dict[str, Any]:
        """As it is stored and shown, without the secret. Raises InvalidField."""
        return {
            "url": check_url(self.url, "webhook.url"),
            "batch": self.batch,
            "timeoutSeconds": self.timeout_seconds,
            "concurrency": self.concurrency,
            "rate": self.rate,
        }

    def checked_secret(self) -> str | None:
        return None if self.secret is None else check_secret(self.secret, "webhook.secret")


class ChannelTarget(parse.Body, frozen=True):
    """Where each event goes: `job:{subject}`, with the placeholders of a queue in the part after the colon."""

    channel: str

    def checked(self) -> dict[str, Any]:
        """As it is stored and shown. Raises InvalidField."""
        check_template(self.channel, "channel.channel", check_channel)
        if not is_fixed(kind_of(self.channel)):
            raise InvalidField("The kind of a channel cannot come from the event.", field="channel.channel")
        return {"channel": self.channel}


class Make(parse.Body, frozen=True):
    name: str
    type: Literal["DURABLE_CONSUMER", "WEBHOOK", "QUEUE", "CHANNEL"]
    topic: str
    filter: Filter | None = None
    start_at: Literal["head", "oldest"] | At = "head"
    window: Window = 1_000
    max_unsettled: Unsettled | None = None
    max_deliveries: Deliveries = 0
    ordering: Ordering = "none"
    retry_backoff: bool = False
    webhook: WebhookTarget | UnsetType = UNSET
    queue: QueueTarget | UnsetType = UNSET
    channel: ChannelTarget | UnsetType = UNSET

    def settings_of_destination(self) -> dict[str, Any]:
        """As operations.make takes them. Raises InvalidField."""
        self._refuse_foreign_target()
        unsettled = checked_unsettled(self.max_unsettled, self.window)
        return {
            "name": self.name,
            "kind": self.type,
            "topic": self.topic,
            "limits": Limits(self.window, unsettled, self.max_deliveries, self.ordering, self.retry_backoff),
            "chosen": self.filter.chosen() if self.filter else Chosen(),
            "start": self.start_at.place("startAt") if isinstance(self.start_at, At) else self.start_at,
            "settings": {"startAt": msgspec.to_builtins(self.start_at), **self._target()},
            "secret": self.webhook.checked_secret() if isinstance(self.webhook, WebhookTarget) else None,
        }

    def names_of_target(self) -> list[tuple[str, str]]:
        """(scope, name or template) of what it pushes to."""
        queues = [("write:queues", self.queue.queue)] if isinstance(self.queue, QueueTarget) else []
        channels = [("write:channels", self.channel.channel)] if isinstance(self.channel, ChannelTarget) else []
        return queues + channels

    def _target(self) -> dict[str, Any]:
        field = self.type.lower()
        if field not in TARGETS:
            return {}
        target = getattr(self, field)
        if target is UNSET:
            raise InvalidField(f"A destination of type {self.type} needs this.", field=field)
        return {field: target.checked()}

    def _refuse_foreign_target(self) -> None:
        for field in TARGETS:
            if getattr(self, field) is not UNSET and field.upper() != self.type:
                raise InvalidField(f"Only a destination of type {field.upper()} has this.", field=field)


class Change(parse.Body, frozen=True):
    """What is not given stays. Topic, type, start and target of a destination cannot be changed."""

    name: str | UnsetType = UNSET
    filter: Filter | UnsetType | None = UNSET
    window: Window | UnsetType = UNSET
    max_unsettled: Unsettled | UnsetType | None = UNSET
    max_deliveries: Deliveries | UnsetType = UNSET
    ordering: Ordering | UnsetType = UNSET
    retry_backoff: bool | UnsetType = UNSET
    type: Any = UNSET
    topic: Any = UNSET
    start_at: Any = UNSET
    webhook: Any = UNSET
    queue: Any = UNSET
    channel: Any = UNSET

    def changes(self) -> dict[str, Any]:
        """As operations.change takes them. Raises InvalidField for what cannot be changed."""
        fixed = {"type": self.type, "topic": self.topic, "startAt": self.start_at}
        for field, value in {**fixed, **{field: getattr(self, field) for field in TARGETS}}.items():
            if value is not UNSET:
                raise InvalidField("This cannot be changed; make another destination.", field=field)
        given = {
            "name": self.name,
            "window_size": self.window,
            "max_unsettled": self.max_unsettled,
            "max_deliveries": self.max_deliveries,
            "ordering": self.ordering,
            "retry_backoff": self.retry_backoff,
            "chosen": self.filter if self.filter is UNSET else self.filter.chosen() if self.filter else Chosen(),
        }
        return {name: value for name, value in given.items() if value is not UNSET}


class Pull(parse.Query, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
    visibility: Visibility = 60
    worker_id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    wait: Annotated[int, Meta(ge=0, le=30)] = 0

    def worker(self) -> str:
        """ "" for who gives none. Raises InvalidParameter for characters that cannot be seen in a list of workers."""
        return "" if self.worker_id is None else check_worker(self.worker_id, error=InvalidParameter)


class Acknowledge(parse.Body, frozen=True):
    lease_id: UUID
    generation: Generation
    status: Literal["ok", "failed"]
    error: Note = UNSET
    retry_delay_seconds: Delay | None = None
    failed_sequences: Annotated[list[str], Meta(min_length=1, max_length=100)] | None = None

    def failure(self) -> Failure | None:
        """None for ok. Raises InvalidField for what only a failure can have."""
        error = note(self.error, "error")
        given = {"error": error, "retryDelaySeconds": self.retry_delay_seconds, "failedSequences": self.failed_sequences}
        if self.status == "ok":
            surplus = next((field for field, value in given.items() if value is not None), None)
            if surplus:
                raise InvalidField("Only a failed batch has this.", field=surplus)
            return None
        return Failure(error, self.retry_delay_seconds, self._positions())

    def _positions(self) -> list[tuple[int, int]] | None:
        if self.failed_sequences is None:
            return None
        return [parse_sequence(text, f"failedSequences[{index}]") for index, text in enumerate(self.failed_sequences)]


class Extend(parse.Body, frozen=True):
    lease_id: UUID
    generation: Generation
    visibility: Visibility


class Pause(parse.Body, frozen=True):
    reason: Note = UNSET
    resume_at: str | None = None

    def until(self) -> datetime | None:
        return None if self.resume_at is None else parse_time(self.resume_at, "resumeAt")


class Reason(parse.Body, frozen=True):
    reason: Note = UNSET


class ExtendLease(Reason, frozen=True):
    visibility: Visibility = 60


class DestinationSeek(cursors.Seek, frozen=True, kw_only=True):
    """On record: with a reason."""

    reason: msgspec.Raw


class Rotate(parse.Body, frozen=True):
    """Without a secret one is made."""

    secret: str | None = None
    reason: Note = UNSET

    def checked_secret(self) -> str | None:
        return None if self.secret is None else check_secret(self.secret, "secret")


class Resend(parse.Body, frozen=True):
    sequence: str

    def position(self) -> tuple[int, int]:
        return parse_sequence(self.sequence, "sequence")
