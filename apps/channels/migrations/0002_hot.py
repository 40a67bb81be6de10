"""The hot tables: keys begin with channel_id, no foreign keys. Log lines age uniformly: partitions of a day, dropped whole."""

from django.db import migrations

CHANNEL_EVENT = """
CREATE TABLE channel_event (
    channel_id integer NOT NULL,
    sequence bigint NOT NULL,
    at timestamptz NOT NULL,
    total_bytes bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL,
    PRIMARY KEY (channel_id, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX channel_event_once ON channel_event (channel_id, id);
"""

# The documents of a kind's `one` keys have an empty doc_id.
CHANNEL_DOCUMENT = """
CREATE TABLE channel_document (
    channel_id integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    doc_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    body text COLLATE "C" NOT NULL,
    PRIMARY KEY (channel_id, key, doc_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)
"""

CHANNEL_LOG = """
CREATE TABLE channel_log (
    channel_id integer NOT NULL,
    sequence bigint NOT NULL,
    at timestamptz NOT NULL,
    time timestamptz NOT NULL,
    level text COLLATE "C",
    message text COLLATE "C" NOT NULL,
    fields text COLLATE "C",
    PRIMARY KEY (channel_id, sequence, at)
) PARTITION BY RANGE (at);
CREATE TABLE channel_log_default PARTITION OF channel_log DEFAULT;
"""

# How many connections each process has open, as of a few seconds ago. After a crash nothing of it is worth keeping.
CHANNEL_LIVE = """
CREATE UNLOGGED TABLE channel_live (
    channel text COLLATE "C" NOT NULL,
    process uuid NOT NULL,
    connections integer NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (channel, process)
) WITH (fillfactor = 50)
"""

DAY = 86_400
KINDS = {
    "job": {"job": "one"},
    "application": {"application": "one", "jobs": "many", "environments": "many"},
    "organization": {"organization": "one", "jobs": "many", "credit": "one"},
}


def make_kinds(apps, schema_editor):
    kind = apps.get_model("channels", "ChannelKind")
    for name, documents in KINDS.items():
        retention = {"events_records": 10_000, "events_seconds": 7 * DAY, "logs_seconds": 30 * DAY}
        kind.objects.get_or_create(name=name, defaults={"documents": documents, **retention})


def table(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL(create, f"DROP TABLE {name}")


class Migration(migrations.Migration):
    dependencies = [("channels", "0001_channels")]

    operations = [
        migrations.RunSQL("ALTER TABLE channel SET (fillfactor = 50)", migrations.RunSQL.noop),
        table(CHANNEL_EVENT, "channel_event"),
        table(CHANNEL_DOCUMENT, "channel_document"),
        table(CHANNEL_LOG, "channel_log"),
        table(CHANNEL_LIVE, "channel_live"),
        migrations.RunPython(make_kinds, migrations.RunPython.noop),
    ]
