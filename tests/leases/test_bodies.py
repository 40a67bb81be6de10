"""The deciding statement takes the log as rows or as arrays, read before the lock: the answer is the same."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.leases.operations.pull import Cold, Lease, Nothing
from core.errors import Unavailable
from tests.logs import Log, Reader, sql

pytestmark = pytest.mark.django_db

COLUMNS = 'SELECT "offset", total_bytes, kind, type, source, subject, partition_key FROM event'


def as_arrays(log: Log, below: int, first: int = 0) -> Cold:
    """What a reader of cold storage would bring of the offsets first … below - 1, which are then no rows any more."""
    place = log.topic.id, first, below
    rows = sql(f'{COLUMNS} WHERE topic_id = %s AND "offset" >= %s AND "offset" < %s ORDER BY "offset"', *place)
    sql('DELETE FROM event WHERE topic_id = %s AND "offset" < %s', log.topic.id, below)
    sql("UPDATE topic_partition SET hot_offset = %s WHERE topic_id = %s", below, log.topic.id)
    return Cold(0, *(list(column) for column in zip(*rows, strict=True)))


def taken(reader: Reader, cold: Cold | None = None, limit: int = 20) -> tuple[list[int], int] | None:
    lease = reader.pull(limit=limit, cold=cold)
    position = sql("SELECT position FROM cursor WHERE consumer_id = %s", reader.number)[0][0]
    return None if isinstance(lease, Nothing) else (list(lease.offsets), position)


kinds = st.lists(st.sampled_from(["order.made", "order.paid", "cart.made"]), min_size=1, max_size=25)


@settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(kinds=kinds, types=st.sampled_from([None, ["order.*"], ["*.made"], ["none"]]), share=st.floats(0, 1),
       limit=st.integers(1, 12), size=st.sampled_from([100, 700_000]))  # fmt: skip
def test_rows_arrays_and_a_page_across_the_seam_give_the_same_lease(kinds, types, share, limit, size):
    log = Log.make()
    for kind in kinds:
        log.append(kind=kind, size=size)
    from_rows, from_arrays = log.consumer(types=types), log.consumer(types=types)
    expected = taken(from_rows, limit=limit)
    seam = round(share * len(kinds))
    cold = as_arrays(log, seam) if seam else None
    assert taken(from_arrays, cold, limit) == expected


def test_arrays_that_are_all_of_the_partition_are_enough():
    log = Log.make()
    log.append(5)
    reader = log.consumer()
    assert taken(reader, as_arrays(log, 5), limit=3) == ([0, 1, 2], 3)


def test_arrays_that_no_longer_start_at_the_position_are_read_from_the_position_on():
    log = Log.make()
    log.append(6)
    reader = log.consumer()
    first = reader.pull("w1", limit=2)
    assert isinstance(first, Lease)
    assert list(reader.pull("w2", limit=3, cold=as_arrays(log, 6)).offsets) == [2, 3, 4]


def test_arrays_of_another_partition_or_after_the_position_are_not_taken():
    log = Log.make()
    log.append(6)
    reader = log.consumer()
    cold = as_arrays(log, 6, first=2)
    for wrong in (cold, Cold(**{**vars(cold), "partition": 1})):
        with pytest.raises(Unavailable):
            reader.pull(cold=wrong)
    assert reader.unsettled() == 0


def test_the_bytes_of_a_first_event_without_one_before_it_count_as_the_largest_allowed():
    log = Log.make()
    log.append(40, size=256 * 1024)
    reader = log.consumer(start=[(0, 10)])
    cold = as_arrays(log, 40, first=10)
    assert len(taken(reader, cold, limit=100)[0]) == 15
