"""Who reads a topic, with the settings that every pull obeys. Positions (cursor) are reached by sql/ only."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.topics.models import Topic


class Kind(models.TextChoices):
    DESTINATION = "destination", "an event destination: leases"
    GROUP = "group", "a consumer group: commits of its own"


class Ordering(models.TextChoices):
    NONE = "none", "batches of a partition may overlap"
    PARTITION = "partition", "one batch of a partition at a time"


class Consumer(models.Model):
    """The row that pull, pause, seek and delete lock: whoever holds it decides with settings nobody is changing."""

    pk = models.CompositePrimaryKey("topic_id", "consumer_id")
    topic_id = models.IntegerField()
    consumer_id = models.IntegerField(db_column="id")
    kind = models.TextField(choices=Kind.choices)
    name = models.TextField(db_collation="C")

    window_size = models.IntegerField(default=1_000)
    max_unsettled = models.IntegerField(default=10_000)
    max_deliveries = models.IntegerField(default=0)
    ordering = models.TextField(choices=Ordering.choices, default=Ordering.NONE)
    retry_backoff = models.BooleanField(default=False)

    types = ArrayField(models.TextField(), null=True)
    # The globs of `types` as LIKE patterns: what the pull compares with.
    type_patterns = ArrayField(models.TextField(), null=True)
    subject_prefix = models.TextField(null=True)
    source_prefix = models.TextField(null=True)

    paused_at = models.DateTimeField(null=True)
    pause_reason = models.TextField(null=True)
    paused_by = models.TextField(null=True)
    # The pause ends by itself at this time: a comparison, nobody has to be awake for it.
    resume_at = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.TextField(null=True)
    # Retention went past a position and the worker has not been told yet (cursor.skipped_from, skipped_to).
    has_skipped = models.BooleanField(default=False)

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "consumer"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Group(models.Model):
    """A consumer group by name: what keeps its topic from being deleted. Position and holders are its cursor rows."""

    id = models.AutoField(primary_key=True)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="groups", editable=False)
    name = models.CharField(max_length=200, db_collation="C")
    consumer_id = models.IntegerField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "consumer_group"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="consumer_group_name_unique")]

    def __str__(self) -> str:
        return self.name
