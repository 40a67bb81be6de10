"""The trail is kept for as long as the installation says; tokens and sessions until a day after their end."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db.models.functions import Now
from django.utils import timezone
from oauth2_provider.models import AccessToken

from apps.access import audit, operations
from apps.access.models import Audit
from core.ids import uuid7

pytestmark = pytest.mark.django_db


def test_audit_records_go_after_the_days_of_the_setting(settings):
    for days in (401, 399, 31, 0):
        audit.record(None, "pause", "queue", f"q{days}")
        Audit.objects.filter(object_name=f"q{days}").update(at=Now() - timedelta(days=days))
    assert operations.forget() == 1
    settings.TOWPATH = {**settings.TOWPATH, "AUDIT_DAYS": 30}
    assert operations.forget() == 2 and operations.forget() == 0
    assert [row.object_name for row in Audit.objects.all()] == ["q0"]


def test_they_go_a_bounded_number_at_a_time_the_oldest_first(monkeypatch):
    for number in range(5):
        audit.record(None, "pause", "queue", f"q{number}")
    Audit.objects.update(at=Now() - timedelta(days=500))
    monkeypatch.setattr(operations, "AT_ONCE", 3)
    assert operations.forget() == 3
    assert sorted(Audit.objects.values_list("object_name", flat=True)) == ["q3", "q4"]
    assert operations.forget() == 2


def test_tokens_and_sessions_go_a_day_after_their_end():
    for hours in (-1, 23, 25):
        ended = timezone.now() - timedelta(hours=hours)
        AccessToken.objects.create(token=str(uuid7()), expires=ended, scope="read:events")
        Session.objects.create(session_key=str(uuid7()), session_data="", expire_date=ended)
    assert operations.forget() == 2
    assert (AccessToken.objects.count(), Session.objects.count()) == (2, 2)
