"""What a filter takes, and that what it leaves out never holds anything up."""

import pytest

from apps.cursors import operations as cursors
from apps.leases.operations import pull as handing_out
from apps.leases.operations.pull import Nothing
from tests.logs import Log, seen, sql

pytestmark = pytest.mark.django_db


@pytest.fixture
def log():
    return Log.make()


@pytest.mark.parametrize(
    ("types", "taken"),
    [
        (["order.*"], [0, 1]),
        (["*.made"], [0, 2]),
        (["order.made", "cart.made"], [0, 2]),
        (["order_made"], None),
        (["ORDER.*"], None),
        (["*"], [0, 1, 2, 3]),
        (["100%*"], [3]),
    ],
)
def test_types_are_globs_in_which_only_the_star_is_special(log, types, taken):
    for kind in ("order.made", "order.paid", "cart.made", "100%_"):
        log.append(kind=kind)
    assert seen(log.consumer(types=types)) == taken


def test_prefixes_of_subject_and_source_are_literal_and_all_must_match(log):
    log.append(subject="eu%1", source="/shop/a")
    log.append(subject="eu_1", source="/shop/a")
    log.append(subject=None, source="/shop/a")
    log.append(subject="eu%2", source="/cart")
    assert seen(log.consumer(subject="eu%")) == [0, 3]
    assert seen(log.consumer(subject="eu%", source="/shop")) == [0]
    assert seen(log.consumer(types=["t"], subject="eu_")) == [1]


def test_a_filter_sees_a_record_as_the_cloud_event_it_is_given_as(log):
    log.append(2)
    sql('UPDATE event SET kind = 0, type = NULL, source = NULL, partition_key = \'eu-1\''
        ' WHERE topic_id = %s AND "offset" = 1', log.topic.id)  # fmt: skip
    assert seen(log.consumer(types=["towpath.*"])) == [1]
    assert seen(log.consumer(subject="eu-")) == [1]
    assert seen(log.consumer(source=f"/v1/topics/{log.topic.name}")) == [1]


def test_a_filtered_out_event_never_holds_the_cursor_back(log):
    log.append(3, kind="noise")
    log.append(1, kind="signal")
    log.append(2, kind="noise")
    reader = log.consumer(types=["signal"])
    lease = reader.pull()
    assert reader.unsettled() == 3
    assert reader.ok(lease).committed == 5
    assert reader.unsettled() == 6


def test_a_long_scan_moves_on_over_slices_and_gives_up_in_time(log, monkeypatch):
    monkeypatch.setattr(handing_out, "SLICE", 10)
    log.append(95, kind="noise")
    log.append(1, kind="signal")
    reader = log.consumer(types=["signal"])
    monkeypatch.setattr(handing_out, "SCAN_SECONDS", 0)
    assert reader.pull() == Nothing(more=True)
    assert 0 < reader.unsettled() <= 10
    monkeypatch.setattr(handing_out, "SCAN_SECONDS", 60)
    assert seen(reader) == [95]


def test_changing_the_filter_leaves_leases_that_are_out_as_they_are(log):
    log.append(2, kind="a")
    log.append(2, kind="b")
    reader = log.consumer(types=["a"])
    lease = reader.pull()
    cursors.change(reader.topic_id, reader.number, chosen=cursors.Filter(types=["b"]))
    reader.run_out(lease.id)
    assert seen(reader, "w2") == [0, 1]
