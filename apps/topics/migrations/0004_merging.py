"""Merging of small segments: which objects are about to go, which segments are small, and what became of it."""

from django.db import migrations, models

# Objects that nothing names any more (merged into another, or written and never entered). They go a while later, and their
# names are refused to the index until a while after that.
SEGMENT_LEAVING = """
CREATE TABLE segment_leaving (
    topic_id integer NOT NULL,
    partition smallint NOT NULL,
    first_offset bigint NOT NULL,
    locator text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    deleted_at timestamptz,
    PRIMARY KEY (topic_id, partition, first_offset, locator)
)
"""

# The bounds are those of cold/windows.py: a segment that is not half full. On a large index it takes a second, in which
# sweeps wait.
SEGMENT_SMALL = """
CREATE INDEX segment_small ON segment (topic_id, partition, first_offset)
WHERE forgotten_at IS NULL AND raw_bytes < 8388608 AND records < 10000
"""


class Migration(migrations.Migration):
    dependencies = [("topics", "0003_segment")]

    operations = [
        migrations.RunSQL(SEGMENT_LEAVING, "DROP TABLE segment_leaving"),
        migrations.RunSQL(SEGMENT_SMALL, "DROP INDEX segment_small"),
        migrations.AddField("Sweep", "merged_at", models.DateTimeField(null=True)),
        migrations.AddField("Sweep", "merged_segments", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("Sweep", "merge_error", models.TextField(blank=True, default="")),
        migrations.AddField("DeletedTopic", "uid", models.UUIDField(null=True)),
        migrations.AddField("DeletedTopic", "removed_at", models.DateTimeField(null=True)),
    ]
