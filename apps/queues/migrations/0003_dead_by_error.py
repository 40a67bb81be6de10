"""Dead events are found by the fingerprint of their error: the same for errors that differ in numbers and ids only."""

from django.db import migrations

# As apps.leases.operations.park makes it, but only ASCII letters are made lower. IMMUTABLE is promised here, since convert_to
# is only stable: the encoding of a database never changes.
FINGERPRINT = r"""
CREATE FUNCTION error_fingerprint(error text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    left(encode(sha256(convert_to(lower(left(regexp_replace(
        left(split_part(btrim(coalesce(error, ''), E' \n\r\t') COLLATE "C", E'\n', 1), 1000),
        '[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|[0-9]+', '#', 'gi'), 200)), 'UTF8')), 'hex'), 16)
"""
INDEX = """
CREATE INDEX queue_event_dead_error ON queue_event (queue_id, error_fingerprint(error), died_at, n) WHERE state = 'dead'
"""


class Migration(migrations.Migration):
    dependencies = [("queues", "0002_events")]

    operations = [
        migrations.RunSQL(FINGERPRINT, "DROP FUNCTION error_fingerprint(text)"),
        migrations.RunSQL(INDEX, "DROP INDEX queue_event_dead_error"),
    ]
