from django.db import migrations, models

PERMISSIONS = {
    "view_console": "See every page, but no payloads",
    "view_payloads": "See payloads of events",
    "pause": "Pause and resume",
    "redrive": "Retry, run now and redrive",
    "settle_leases": "Expire, extend and park leases",
    "seek": "Move a reader's position",
    "purge": "Purge and discard",
    "delete": "Delete",
    "publish_test": "Publish a test event",
    "manage_clients": "Make, rotate and revoke API keys and OAuth applications",
}
ROLES = {
    "Viewer": ["view_console"],
    "Operator": ["view_console", "pause", "redrive", "settle_leases"],
    "Admin": list(PERMISSIONS),
}


def make_roles(apps, schema_editor):
    # Django makes permissions only after all migrations; groups need them now, and it leaves existing ones alone.
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(app_label="console", model="role")
    permission_model = apps.get_model("auth", "Permission")
    made = {
        codename: permission_model.objects.get_or_create(
            content_type=content_type, codename=codename, defaults={"name": name}
        )[0]
        for codename, name in PERMISSIONS.items()
    }
    for role, codenames in ROLES.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        group.permissions.add(*(made[codename] for codename in codenames))


class Migration(migrations.Migration):
    initial = True
    dependencies = [("auth", "0012_alter_user_first_name_max_length"), ("contenttypes", "0002_remove_content_type_name")]
    operations = [
        migrations.CreateModel(
            name="Role",
            fields=[("id", models.AutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"))],
            options={
                "managed": False,
                "default_permissions": (),
                "permissions": list(PERMISSIONS.items()),
            },
        ),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
