"""What is noted beside the log goes after its time, and what is counted stays counted."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from apps.console import metrics
from apps.leases.operations.retain import SKIPPED_DAYS, forget_skipped
from apps.topics.models import Import, Repair, RepairSum
from apps.topics.operations.forget import IMPORTS_DAYS, REPAIRS_DAYS, forget_notes
from tests.logs import sql
from tests.topics.cold import topic_of

pytestmark = pytest.mark.django_db


def repairs(kind, *ages):
    for days in ages:
        row = Repair.objects.create(topic_id=1, kind=kind, detail="x")
        Repair.objects.filter(pk=row.pk).update(at=Now() - timedelta(days=days))


def counted(kind, monkeypatch):
    monkeypatch.setattr(metrics, "_looked_at", -1e9)
    (line,) = [line for line in metrics.exposition().decode().splitlines() if f'repairs_total{{kind="{kind}"}}' in line]
    return float(line.split()[-1])


def test_repairs_go_after_their_time_and_stay_counted(monkeypatch):
    repairs("orphan", REPAIRS_DAYS + 20, REPAIRS_DAYS + 1, REPAIRS_DAYS - 1, 0)
    repairs("missed_sweep", REPAIRS_DAYS - 1)
    assert counted("orphan", monkeypatch) == 4
    for _ in range(2):
        forget_notes()
        assert Repair.objects.filter(kind="orphan").count() == 2 and Repair.objects.count() == 3
        assert (counted("orphan", monkeypatch), counted("missed_sweep", monkeypatch)) == (4, 1)
    Repair.objects.update(at=Now() - timedelta(days=REPAIRS_DAYS + 1))
    forget_notes()
    assert dict(RepairSum.objects.values_list("kind", "repairs")) == {"orphan": 4, "missed_sweep": 1}


def test_imports_go_that_have_not_moved_for_long(api):
    topic = topic_of(api)
    for number, days in enumerate((IMPORTS_DAYS + 1, IMPORTS_DAYS - 1)):
        Import.objects.create(topic_id=topic.id, sha256=str(number))
        Import.objects.filter(sha256=str(number)).update(progressed_at=Now() - timedelta(days=days))
    assert forget_notes() == 1 and Import.objects.get().sha256 == "1"


def test_what_readers_lost_goes_after_its_time(api):
    topic = topic_of(api)
    for first, days in ((0, SKIPPED_DAYS + 1), (10, SKIPPED_DAYS - 1)):
        sql("INSERT INTO skipped_range VALUES (%s, 1, 0, %s, %s, statement_timestamp() - make_interval(days => %s))",
            topic.id, first, first + 9, days)  # fmt: skip
    assert forget_skipped() == 1
    assert sql("SELECT first_offset FROM skipped_range WHERE topic_id = %s", topic.id) == [(10,)]
