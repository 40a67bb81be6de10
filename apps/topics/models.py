"""A topic and its settings. The hot tables beside it (topic_partition, event, dedup) are reached by sql/ only."""

from django.db import models

from core.ids import uuid7

HASH = "fnv1a-utf16-v1"
DEFAULT_PARTITIONS = 8


class OnLag(models.TextChoices):
    PROTECT = "protect", "keep what a reader has not read, within bounds"
    EXPIRE = "expire", "let it go, and say so"


class Topic(models.Model):
    """`id` is the distribution key of every hot table and never shown; clients know `uid` and `name`."""

    id = models.AutoField(primary_key=True)
    uid = models.UUIDField(unique=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True, db_collation="C")
    partitions = models.PositiveSmallIntegerField(default=DEFAULT_PARTITIONS, editable=False)
    hash = models.CharField(max_length=32, default=HASH, editable=False)
    dedup_seconds = models.PositiveIntegerField(default=86_400)

    # The hot window is per partition; what is past any of the three moves to cold storage.
    hot_seconds = models.PositiveIntegerField(default=604_800)
    hot_records = models.PositiveIntegerField(default=50_000)
    hot_bytes = models.PositiveBigIntegerField(default=268_435_456)
    cold_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    on_lag = models.CharField(max_length=16, choices=OnLag.choices, default=OnLag.PROTECT)
    protect_seconds = models.PositiveIntegerField(default=604_800)
    protect_bytes = models.PositiveBigIntegerField(default=1_073_741_824)

    max_hot_records = models.PositiveBigIntegerField(null=True, blank=True)
    max_hot_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    max_records_per_second = models.PositiveIntegerField(null=True, blank=True)
    max_backlog = models.PositiveIntegerField(null=True, blank=True)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "topic"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class DeletedTopic(models.Model):
    """A topic that is gone for everybody, whose rows the sweep still has to remove in bounded steps.

    The reconcile looks for its orphans once they are removed, and forgets it when there are none.
    """

    id = models.IntegerField(primary_key=True)
    uid = models.UUIDField(null=True)
    name = models.CharField(max_length=200)
    partitions = models.PositiveSmallIntegerField()
    deleted_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "topic_deleted"

    def __str__(self) -> str:
        return f"{self.name} (deleted)"


class Sweep(models.Model):
    """How the last sweep and the last reconcile of a topic's log went."""

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, primary_key=True, related_name="sweep")
    swept_at = models.DateTimeField(null=True)
    succeeded_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    """In a row; 0 after a success."""
    error = models.TextField(default="", blank=True)
    problems = models.JSONField(default=list)
    """What the reconcile found and could not repair."""
    reconciled_at = models.DateTimeField(null=True)
    merged_at = models.DateTimeField(null=True)
    """When its small segments were last looked at."""
    merged_segments = models.PositiveBigIntegerField(default=0)
    """How many became part of another, ever."""
    merge_error = models.TextField(default="", blank=True)

    class Meta:
        db_table = "topic_sweep"

    def __str__(self) -> str:
        return f"sweep of {self.topic_id}"


class Repair(models.Model):
    """Something that a reconcile put right. There should be none."""

    id = models.BigAutoField(primary_key=True)
    topic_id = models.IntegerField()
    partition = models.SmallIntegerField(null=True)
    kind = models.TextField()
    detail = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "topic_repair"
        indexes = [models.Index(fields=["topic_id", "id"], name="topic_repair_topic")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


class RepairSum(models.Model):
    """How many repairs of a kind were made that are not listed any more."""

    kind = models.TextField(primary_key=True)
    repairs = models.BigIntegerField()

    class Meta:
        db_table = "topic_repair_sum"

    def __str__(self) -> str:
        return f"{self.kind}: {self.repairs}"


class Import(models.Model):
    """How far a file is in a topic, moved in the transaction that appends: a broken-off import goes on exactly there."""

    id = models.BigAutoField(primary_key=True)
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="imports")
    sha256 = models.TextField(db_collation="C")
    """Of the file as it is."""
    lines = models.BigIntegerField(default=0)
    events = models.BigIntegerField(default=0)
    began_at = models.DateTimeField(auto_now_add=True)
    progressed_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "topic_import"
        constraints = [models.UniqueConstraint(fields=["topic", "sha256"], name="topic_import_file")]

    def __str__(self) -> str:
        return f"import {self.sha256[:16]} into {self.topic_id}"
