"""The permissions that pages and actions of the console ask for. Roles (groups that hold them) are made by a migration."""

from django.db import models


class Role(models.Model):
    """No table: only the place where Django keeps these permissions."""

    class Meta:
        managed = False
        default_permissions = ()
        permissions = [
            ("view_console", "See every page, but no payloads"),
            ("view_payloads", "See payloads of events"),
            ("pause", "Pause and resume"),
            ("redrive", "Retry, run now and redrive"),
            ("settle_leases", "Expire, extend and park leases"),
            ("seek", "Move a reader's position"),
            ("purge", "Purge and discard"),
            ("delete", "Delete"),
            ("publish_test", "Publish a test event"),
            ("manage_clients", "Make, rotate and revoke API keys and OAuth applications"),
        ]


class BeatProof(models.Model):
    """One row, written through beat, broker and worker: how /readyz knows that all three are alive."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    proved_at = models.DateTimeField()

    class Meta:
        db_table = "beat_proof"


class Objects(models.TextChoices):
    DEAD_LETTERS = "dead-letters", "dead letters of destinations"
    QUEUE_DEAD_LETTERS = "queue-dead-letters", "dead letters of queues"
    DESTINATIONS = "destinations", "destinations"
    QUEUES = "queues", "queues"


class Bulk(models.Model):
    """One operation on all that matched a filter: what it was asked, the frozen set (items), and what became of each."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    id = models.UUIDField(primary_key=True, editable=False)
    verb = models.TextField()
    objects_kind = models.TextField(choices=Objects.choices)
    area = models.TextField()
    """events or queues: which `manage` scope may see and end it."""
    filter = models.JSONField()
    reason = models.TextField()
    rate = models.PositiveIntegerField(null=True)
    """Items a second, at most; None: as fast as it goes."""
    actor_kind = models.TextField()
    actor_id = models.TextField()
    actor_name = models.TextField()
    state = models.TextField(choices=State.choices, default=State.RUNNING)
    total = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "bulk"
        verbose_name = "bulk operation"
        indexes = [models.Index(fields=["id"], condition=models.Q(state="running"), name="bulk_running")]

    def __str__(self) -> str:
        return f"{self.verb} {self.get_objects_kind_display()}"

    @property
    def processed(self) -> int:
        return self.done + self.skipped + self.failed


class BulkItem(models.Model):
    """One thing of the frozen set. `home` is the uid of its destination or queue; `target` the dead letter, if it is one."""

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        DONE = "done", "done"
        SKIPPED = "skipped", "skipped"
        FAILED = "failed", "failed"

    pk = models.CompositePrimaryKey("bulk_id", "n")
    bulk = models.ForeignKey(Bulk, on_delete=models.CASCADE, related_name="items")
    n = models.IntegerField()
    home = models.UUIDField()
    target = models.UUIDField(null=True)
    state = models.TextField(choices=State.choices, default=State.PENDING)
    note = models.TextField(default="")

    class Meta:
        db_table = "bulk_item"
        indexes = [
            models.Index(fields=["bulk", "n"], condition=models.Q(state="pending"), name="bulk_item_pending"),
            models.Index(
                fields=["bulk", "n"], condition=models.Q(state__in=["skipped", "failed"]), name="bulk_item_not_done"
            ),
        ]


class OverviewSample(models.Model):
    """The sums over everything at an instant. `appended` and `settled` only grow while nothing is deleted."""

    at = models.DateTimeField(primary_key=True)
    appended = models.BigIntegerField()
    settled = models.BigIntegerField()
    lag_events = models.BigIntegerField()
    in_flight = models.BigIntegerField()
    waiting = models.BigIntegerField()
    queued = models.BigIntegerField()
    queued_dead = models.BigIntegerField()
    connections = models.IntegerField()

    class Meta:
        db_table = "overview_sample"
