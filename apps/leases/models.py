"""Dead letters, for lists only. Leases and whatever changes them are statements in sql/."""

from django.db import models


class Death(models.TextChoices):
    DEAD = "dead", "given up"
    REDRIVEN = "redriven", "handed out again"


class DeadLetter(models.Model):
    """One event that a consumer could not take, with a copy of its body as it is handed out."""

    pk = models.CompositePrimaryKey("topic_id", "consumer_id", "id")
    topic_id = models.IntegerField()
    consumer_id = models.IntegerField()
    id = models.UUIDField()
    partition = models.SmallIntegerField()
    offset = models.BigIntegerField()
    state = models.TextField(choices=Death.choices)
    lease_id = models.UUIDField()
    handouts = models.IntegerField()
    deaths = models.IntegerField()
    fingerprint = models.TextField()
    error = models.TextField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    redriven_at = models.DateTimeField(null=True)
    body = models.TextField()

    class Meta:
        db_table = "dead_letter"
        managed = False

    def __str__(self) -> str:
        return str(self.id)
