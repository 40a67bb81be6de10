"""Since when a worker comes by without a break: only meanwhile can a partition have been passed over."""

from django.db import migrations

SEEN_SINCE = "ALTER TABLE worker_seen ADD COLUMN seen_since timestamptz NOT NULL DEFAULT statement_timestamp()"


class Migration(migrations.Migration):
    dependencies = [("destinations", "0004_webhooks")]

    operations = [migrations.RunSQL(SEEN_SINCE, "ALTER TABLE worker_seen DROP COLUMN seen_since")]
