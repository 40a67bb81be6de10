"""Which segments are worth being one: few writes for each event, few segments left, none that spans too long."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from apps.topics.cold.windows import FULL_BYTES, FULL_RECORDS, MAX_BYTES, MAX_RECORDS, Small, windows

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def small(first, records, raw_bytes=None, ended=10 * DAY, lasted=HOUR, has_rested=False):
    """A segment whose last event was appended so long ago."""
    end = NOW - ended
    return Small(
        0, first, first + records - 1, records, records * 100 if raw_bytes is None else raw_bytes, end - lasted, end,
        "", "", ended, has_rested,
    )  # fmt: skip


def row(*counts, start=0, **more):
    found = []
    for count in counts:
        found.append(small(start, count, **more))
        start += count
    return found


def sizes(segments, replay=None):
    return [[each.records for each in window] for window in windows(segments, replay)]


def test_four_alike_become_one_and_three_wait():
    assert sizes(row(10, 10, 10)) == []
    assert sizes(row(10, 10, 10, 10)) == [[10, 10, 10, 10]]


def test_a_large_one_is_not_written_again_for_a_few_small_ones():
    assert sizes(row(1000, 10, 10, 10, 10)) == [[10, 10, 10, 10]]
    assert sizes(row(1000, 10, 10)) == []


def test_what_becomes_half_full_is_done_and_worth_it():
    assert sizes(row(FULL_RECORDS - 1, 1)) == [[FULL_RECORDS - 1, 1]]
    assert sizes(row(9, 9, raw_bytes=FULL_BYTES // 2)) == [[9, 9]]


def test_nothing_grows_over_the_bounds():
    for window in windows(row(*[6_000] * 10), None):
        assert sum(each.records for each in window) <= MAX_RECORDS
    for window in windows(row(*[5] * 10, raw_bytes=MAX_BYTES // 3), None):
        assert sum(each.raw_bytes for each in window) <= MAX_BYTES
    assert sizes(row(MAX_RECORDS - 1, 2)) == []


def test_what_has_rested_for_a_day_is_merged_however_few_it_is():
    assert sizes(row(1000, 1, has_rested=True)) == [[1000, 1]]
    assert sizes(row(1000, 1, has_rested=True)[:1] + row(1, start=1000)) == []


def test_only_neighbours_are_merged():
    assert sizes(row(10, 10) + row(10, 10, start=500)) == []
    assert sizes([]) == [] and sizes(row(10)) == []


def test_a_segment_spans_no_longer_than_a_tenth_of_the_replay_window_or_a_week_or_its_age():
    hourly = [small(hour, 1, ended=(200 - hour) * HOUR, has_rested=True) for hour in range(190)]
    for replay, most in ((None, 7 * DAY), (100 * 3_600, 10 * HOUR)):
        found = windows(hourly, replay)
        spans = [(window[-1].last_at - window[0].first_at, window[-1].age) for window in found]
        assert found and all(span <= min(most, age) for span, age in spans)
        assert max(span for span, _ in spans) > most / 2


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_sizes_few_small_ones_stay_and_no_event_is_written_often(seed):
    chance = random.Random(seed)
    kept, writes, first, most_writes = [], {}, 0, 0
    for _ in range(3_000):
        kept.append(small(first, chance.choice([1, 2, 7, 50, 300]), lasted=timedelta()))
        first = kept[-1].last_offset + 1
        for window in windows([each for each in kept if each.records < FULL_RECORDS][-200:], None):
            place, times = kept.index(window[0]), max(writes.get(each.first_offset, 0) for each in window) + 1
            merged = small(window[0].first_offset, sum(each.records for each in window), lasted=timedelta())
            kept[place : place + len(window)] = [merged]
            writes[merged.first_offset], most_writes = times, max(most_writes, times)
    assert [each.first_offset for each in kept] == [0, *(each.last_offset + 1 for each in kept[:-1])]
    assert sum(each.records < FULL_RECORDS for each in kept) <= 30
    assert most_writes <= 10
