"""A destination wants the events of a topic. How far it has got and what it has out are the consumer's, in apps.cursors."""

from django.db import models
from django.db.models.functions import Now

from apps.topics.models import Topic


class Type(models.TextChoices):
    DURABLE_CONSUMER = "DURABLE_CONSUMER", "durable consumer"
    WEBHOOK = "WEBHOOK", "webhook"
    QUEUE = "QUEUE", "queue"
    CHANNEL = "CHANNEL", "channel"


class Destination(models.Model):
    """`topic` and `consumer_id` are the key of the consumer row, which holds pause, limits and filter: the pull locks it."""

    id = models.AutoField(primary_key=True)
    uid = models.UUIDField(editable=False)
    name = models.CharField(max_length=200, db_collation="C")
    type = models.CharField(max_length=16, choices=Type.choices, default=Type.DURABLE_CONSUMER, editable=False)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="destinations", editable=False)
    consumer_id = models.IntegerField(editable=False)
    settings = models.JSONField(default=dict, editable=False)
    """What no statement reads: startAt as it was given, and the target of what pushes."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "destination"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["uid"], name="destination_uid_unique"),
            models.UniqueConstraint(fields=["name"], name="destination_name_unique"),
            models.UniqueConstraint(fields=["topic", "consumer_id"], name="destination_consumer_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class PushState(models.Model):
    """What a forwarder found out about a target, for the forwarders after it and for whoever asks why nothing moves."""

    destination = models.OneToOneField(Destination, on_delete=models.CASCADE, primary_key=True, related_name="push")
    held_code = models.CharField(max_length=32, null=True)
    held_text = models.TextField(default="")
    held_since = models.DateTimeField(null=True)
    # Of a webhook: failures in a row, since when, and not before what time the next attempt.
    failures = models.IntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)
    last_error = models.TextField(default="")

    class Meta:
        db_table = "push_state"

    def __str__(self) -> str:
        return f"{self.destination_id}: {self.held_code or 'free'}"

    @staticmethod
    def now() -> Now:
        return Now()


class WebhookSecret(models.Model):
    """A signing secret. It is kept as it is, since every request needs it; no answer and no page shows it again."""

    destination = models.ForeignKey(Destination, on_delete=models.CASCADE, related_name="secrets")
    secret = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    """When a rotated one ends; None: the one in force."""

    class Meta:
        db_table = "webhook_secret"

    def __str__(self) -> str:
        return f"secret {self.pk}"
