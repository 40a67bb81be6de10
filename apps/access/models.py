"""Credentials and the trail of what was done with them. No secret is stored, only SHA-256 digests."""

from django.db import models
from django.db.models import Q


class ApiKey(models.Model):
    uid = models.UUIDField(unique=True, editable=False)
    name = models.TextField(db_collation="C")
    prefix = models.TextField(unique=True)
    digest = models.BinaryField(max_length=32)
    grants = models.JSONField()
    """A list of `{"scope", "patterns"}`; no patterns: every name."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    """To the minute: it is written when the cached key is looked up again, never for a single request."""

    class Meta:
        db_table = "access_api_key"
        verbose_name = "API key"
        constraints = [
            models.UniqueConstraint("name", condition=Q(revoked_at__isnull=True), name="access_api_key_name"),
        ]

    def __str__(self) -> str:
        return self.name


class OAuthClient(models.Model):
    """What django-oauth-toolkit's application may do: its scopes backend knows no scopes of a single application."""

    uid = models.UUIDField(unique=True, editable=False)
    application = models.OneToOneField("oauth2_provider.Application", on_delete=models.CASCADE, related_name="access")
    name = models.TextField(db_collation="C", unique=True)
    grants = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "access_oauth_client"
        verbose_name = "OAuth client"

    def __str__(self) -> str:
        return self.name


class Audit(models.Model):
    """One change by an operator. Rows are only ever added; the id (UUIDv7) is the order."""

    id = models.UUIDField(primary_key=True, editable=False)
    at = models.DateTimeField()
    area = models.TextField()
    """events, queues, channels (whose `manage` scope may read the row) or access (the admin only)."""
    actor_kind = models.TextField()
    actor_id = models.TextField()
    actor_name = models.TextField()
    verb = models.TextField()
    object_kind = models.TextField()
    object_id = models.TextField()
    object_name = models.TextField(db_collation="C")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.TextField()
    request_id = models.TextField()

    class Meta:
        db_table = "access_audit"
        verbose_name_plural = "audit trail"
        indexes = [
            models.Index(fields=["area", "id"], name="access_audit_area"),
            models.Index(fields=["object_kind", "object_name", "id"], name="access_audit_object"),
        ]
