"""Kinds, channels and grants. Events, documents and log lines are hot tables, which only statements in sql/ touch."""

from django.db import models

from core.ids import uuid7


class ChannelKind(models.Model):
    """Which documents the channels of a kind have, and for how long their events and logs are kept (null: for ever)."""

    name = models.CharField(max_length=200, unique=True, db_collation="C")
    documents = models.JSONField(default=dict)
    """`{"job": "one", "environments": "many"}`."""
    events_records = models.PositiveBigIntegerField(null=True, blank=True)
    events_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    events_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    logs_seconds = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "channel_kind"

    def __str__(self) -> str:
        return self.name


class Channel(models.Model):
    """A counter that never restarts: a deleted channel keeps its row. The row is the lock of whoever publishes."""

    name = models.CharField(max_length=200, unique=True, db_collation="C")
    kind = models.ForeignKey(ChannelKind, on_delete=models.PROTECT, db_constraint=False, related_name="channels")
    last_sequence = models.BigIntegerField(default=0)
    oldest_sequence = models.BigIntegerField(default=1)
    """The first that can be replayed; everything before it is gone."""
    total_bytes = models.BigIntegerField(default=0)
    """Of all events ever: two of these figures tell what lies between them without reading it."""
    last_log = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    """Nothing has been published since."""

    class Meta:
        db_table = "channel"

    def __str__(self) -> str:
        return self.name


class ChannelGrant(models.Model):
    """Lets somebody else's program or browser read some channels for a while. The token is signed, and not stored."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    subject = models.CharField(max_length=200, db_collation="C")
    made_by = models.TextField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "channel_grant"
        indexes = [models.Index(fields=["subject"], name="channel_grant_subject")]

    def __str__(self) -> str:
        return f"{self.subject} ({self.id})"


class GrantedChannel(models.Model):
    """One channel of a grant: revoked alone, or with the others."""

    grant = models.ForeignKey(ChannelGrant, on_delete=models.CASCADE, related_name="channels")
    channel = models.CharField(max_length=200, db_collation="C", db_index=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "channel_grant_channel"
        constraints = [models.UniqueConstraint(fields=["grant", "channel"], name="channel_grant_channel_once")]

    def __str__(self) -> str:
        return self.channel
