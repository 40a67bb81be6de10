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
