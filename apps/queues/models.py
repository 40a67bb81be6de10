"""Queues and schedules, and a read-only view of the events. Changes to events are statements in operations/sql only."""

from django.db import models

from core.ids import uuid7


class State(models.TextChoices):
    READY = "ready", "may be claimed now"
    WAITING = "waiting", "scheduled for later, or waits for a retry"
    LEASED = "leased", "held by a worker until the end of its lease"
    BLOCKED = "blocked", "behind another event of its group key"
    DEAD = "dead", "given up after its last attempt"


class Misfire(models.TextChoices):
    FIRE_ONCE = "fire-once", "fire the last missed time only"
    SKIP = "skip", "fire none of the missed times"
    CATCH_UP = "catch-up", "fire every missed time, at most 100"


class Queue(models.Model):
    """`id` is the distribution key of every hot table and the first part of a lease token; clients know `uid` and `name`.

    A deleted queue stays, under a name that no queue can have, until the sweep has removed what it held.
    """

    id = models.AutoField(primary_key=True)
    uid = models.UUIDField(unique=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True, db_collation="C")
    max_attempts = models.PositiveIntegerField(default=10)
    default_lease_seconds = models.PositiveIntegerField(default=60)
    # A nack without a delay waits first * 2^(attempts - 1), at most the second, with jitter.
    retry_first_seconds = models.PositiveIntegerField(default=1)
    retry_max_seconds = models.PositiveIntegerField(default=3600)
    paused_at = models.DateTimeField(null=True, blank=True, editable=False)
    pause_reason = models.TextField(blank=True, default="", editable=False)
    # Events up to this number are purged: never handed out again, and deleted in batches.
    purged_to = models.BigIntegerField(default=0, editable=False)
    purged_at = models.DateTimeField(null=True, editable=False)
    purge_dead = models.BooleanField(default=False, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "queue"

    def __str__(self) -> str:
        return self.name


class Schedule(models.Model):
    """When to enqueue what. Times up to `planned_until` are settled: inserted as events, or missed and decided."""

    id = models.AutoField(primary_key=True)
    uid = models.UUIDField(unique=True, default=uuid7, editable=False)
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="schedules")
    name = models.CharField(max_length=200, unique=True, db_collation="C")
    payload = models.TextField()
    cron = models.CharField(max_length=200, null=True, blank=True)
    every_seconds = models.PositiveIntegerField(null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    enabled = models.BooleanField(default=True)
    misfire = models.CharField(max_length=16, choices=Misfire.choices, default=Misfire.FIRE_ONCE)
    planned_until = models.DateTimeField(editable=False)
    # Grows with every edit: a scheduler that computed with the older rule inserts nothing.
    version = models.PositiveIntegerField(default=1, editable=False)
    last_due_at = models.DateTimeField(null=True, blank=True, editable=False)
    missed = models.PositiveBigIntegerField(default=0, editable=False)
    error = models.TextField(blank=True, default="", editable=False)
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "schedule"

    def __str__(self) -> str:
        return self.name


class QueueEvent(models.Model):
    """For lists only. `n` is the order of enqueueing; `due_at` the end of the lease or of the waiting."""

    pk = models.CompositePrimaryKey("queue_id", "id")
    queue_id = models.IntegerField()
    id = models.UUIDField()
    n = models.BigIntegerField()
    state = models.TextField(choices=State.choices)
    priority = models.SmallIntegerField()
    scheduled_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    attempts = models.IntegerField()
    leased_by = models.TextField(null=True)
    group_key = models.TextField(null=True)
    idempotency_key = models.TextField(null=True)
    schedule_id = models.UUIDField(null=True)
    caused_by = models.UUIDField(null=True)
    enqueued_at = models.DateTimeField()
    died_at = models.DateTimeField(null=True)
    error = models.TextField(null=True)
    payload = models.TextField()

    class Meta:
        db_table = "queue_event"
        managed = False

    def __str__(self) -> str:
        return str(self.id)
