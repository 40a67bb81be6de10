"""What positions passed without anybody settling it, so that a sample can say how much was settled."""

from django.db import migrations

# jumped: offsets that the position passed and that were never handed out or read: where it started, seeks (back is negative),
# what retention took, what a filter left out. Settled so far = position - jumped - events in live leases.
JUMPED = "ALTER TABLE cursor ADD COLUMN jumped bigint NOT NULL DEFAULT 0"

# Until now samples counted every offset before the first unsettled one: from there on, so that no rate jumps at the upgrade.
# Pulls wait for the table meanwhile: milliseconds for thousands of cursors.
AS_SAMPLED = """
UPDATE cursor
SET jumped = position - unsettled.first_offset - unsettled.events
FROM (
    SELECT k.topic_id, k.consumer_id, k.partition,
        coalesce(min(l.first_offset), k.position) AS first_offset, coalesce(sum(l.events), 0) AS events
    FROM cursor AS k
    LEFT JOIN lease AS l ON l.topic_id = k.topic_id AND l.consumer_id = k.consumer_id AND l.partition = k.partition
        AND NOT l.redriven
    GROUP BY k.topic_id, k.consumer_id, k.partition
) AS unsettled
WHERE cursor.topic_id = unsettled.topic_id AND cursor.consumer_id = unsettled.consumer_id
    AND cursor.partition = unsettled.partition
"""


class Migration(migrations.Migration):
    dependencies = [("cursors", "0002_groups"), ("leases", "0003_skipped_range")]

    operations = [
        migrations.RunSQL(JUMPED, "ALTER TABLE cursor DROP COLUMN jumped"),
        migrations.RunSQL(AS_SAMPLED, migrations.RunSQL.noop),
    ]
