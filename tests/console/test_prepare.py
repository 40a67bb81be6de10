"""`manage.py prepare`, as a deployment runs it: with a home that nobody has made."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(settings, tmp_path):
    settings.HOME = tmp_path / "not" / "made"
    folders = {
        name: str(settings.HOME / "broker" / name)
        for name in ("data_folder_in", "data_folder_out", "processed_folder", "control_folder")
    }
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = folders
    settings.CELERY_BROKER_URL = "filesystem://"
    return settings.HOME


def test_the_first_run_makes_the_home_and_keeps_what_it_writes_from_others(home):
    call_command("prepare", first_run=True, verbosity=0)
    for name in ("admin-password", "api-key"):
        assert (home / name).stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert User.objects.get(username="admin").check_password((home / "admin-password").read_text().strip())


def test_it_makes_the_folders_of_the_default_broker_and_of_no_other(home, settings):
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    call_command("prepare", verbosity=0)
    assert not home.exists()
    settings.CELERY_BROKER_URL = "filesystem://"
    call_command("prepare", verbosity=0)
    assert (home / "broker/data_folder_in").is_dir() and (home / "broker/control_folder").is_dir()


def test_a_broker_folder_that_cannot_be_made_is_a_sentence_and_stops_nothing(home, capsys):
    home.parent.write_text("a file is in the way")
    call_command("prepare", verbosity=0)
    assert "CELERY_BROKER_URL" in capsys.readouterr().err
