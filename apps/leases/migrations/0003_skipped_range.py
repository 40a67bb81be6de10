"""What retention took before a reader had read it: written down for good, whether or not the reader has been told."""

from django.db import migrations

SKIPPED_RANGE = """
CREATE TABLE skipped_range (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    partition smallint NOT NULL,
    first_offset bigint NOT NULL,
    last_offset bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (topic_id, consumer_id, partition, first_offset)
)
"""


class Migration(migrations.Migration):
    dependencies = [("leases", "0002_dead_letters"), ("topics", "0003_segment")]

    operations = [migrations.RunSQL(SKIPPED_RANGE, "DROP TABLE skipped_range")]
