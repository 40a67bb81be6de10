"""Consumer groups: their names, which keep a topic from being deleted, and the members that hold partitions."""

import django.db.models.deletion
from django.db import migrations, models


MEMBER = """
CREATE TABLE group_member (
    topic_id integer NOT NULL,
    consumer_id integer NOT NULL,
    member text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (topic_id, consumer_id, member)
) WITH (fillfactor = 50)
"""


class Migration(migrations.Migration):

    dependencies = [
        ('cursors', '0001_cursors'),
        ('topics', '0002_log'),
    ]

    operations = [
        migrations.CreateModel(
            name='Group',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(db_collation='C', max_length=200)),
                ('consumer_id', models.IntegerField(editable=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('topic', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='groups', to='topics.topic')),
            ],
            options={
                'db_table': 'consumer_group',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('topic', 'name'), name='consumer_group_name_unique')],
            },
        ),
        migrations.RunSQL(MEMBER, "DROP TABLE group_member"),
    ]
