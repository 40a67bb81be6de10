"""Imports that resume exactly, repairs that are forgotten after a while and stay counted."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("topics", "0004_merging")]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="imports", to="topics.topic"
                    ),
                ),
                ("sha256", models.TextField(db_collation="C")),
                ("lines", models.BigIntegerField(default=0)),
                ("events", models.BigIntegerField(default=0)),
                ("began_at", models.DateTimeField(auto_now_add=True)),
                ("progressed_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "db_table": "topic_import",
                "constraints": [models.UniqueConstraint(fields=["topic", "sha256"], name="topic_import_file")],
            },
        ),
        migrations.CreateModel(
            name="RepairSum",
            fields=[
                ("kind", models.TextField(primary_key=True, serialize=False)),
                ("repairs", models.BigIntegerField()),
            ],
            options={"db_table": "topic_repair_sum"},
        ),
        migrations.AddIndex("Repair", models.Index(fields=["topic_id", "id"], name="topic_repair_topic")),
    ]
