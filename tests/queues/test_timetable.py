"""When schedules are due, walked over the calendars of zones with odd clocks."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from apps.queues import timetable
from apps.queues.timetable import MAX_CATCH_UP, Rule, check_cron, check_zone, due_times, next_times, plan
from core.errors import InvalidField

ANCHOR = datetime(2026, 1, 1, 0, 0, 7, 500_000, tzinfo=UTC)


def cron(expression: str, zone: str = "UTC") -> Rule:
    return Rule(expression, None, None, zone, ANCHOR)


def local(rule: Rule, begin: str, end: str) -> list[str]:
    """The due times between two local times, as the clock on the wall shows them."""
    zone = ZoneInfo(rule.time_zone)
    after, until = (datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC) for text in (begin, end))
    return [moment.astimezone(zone).strftime("%d %H:%M%z") for moment in due_times(rule, after, until)]


def walked(rule: Rule, after: datetime, until: datetime, step: timedelta) -> list[datetime]:
    """As a scheduler sees it: window after window, each from where the last one ended."""
    found = []
    while after < until:
        found += due_times(rule, after, min(after + step, until))
        after += step
    return found


# A skipped fixed time fires at the first instant after the gap.
@pytest.mark.parametrize(
    ("zone", "day", "expression", "fires"),
    [
        ("Europe/Berlin", "2027-03-28", "30 2 * * *", ["28 03:00+0200"]),
        ("America/New_York", "2027-03-14", "30 2 * * *", ["14 03:00-0400"]),
        ("Australia/Lord_Howe", "2026-10-04", "15 2 * * *", ["04 02:30+1100"]),
        ("Antarctica/Troll", "2027-03-28", "30 1 * * *", ["28 03:00+0200"]),
        ("Antarctica/Troll", "2027-03-28", "0 1,2 * * *", ["28 03:00+0200"]),
        ("Africa/Cairo", "2026-04-24", "0 0 * * *", ["24 01:00+0300"]),
    ],
)
def test_a_skipped_fixed_time_fires_at_the_first_instant_after_the_gap(zone, day, expression, fires):
    begin = datetime.fromisoformat(day) - timedelta(minutes=1)
    assert local(cron(expression, zone), begin.isoformat(), f"{day}T23:00") == fires


# A repeated fixed time fires once, at the first.
@pytest.mark.parametrize(
    ("zone", "day", "expression", "fires"),
    [
        ("Europe/Berlin", "2026-10-25", "30 2 * * *", ["25 02:30+0200"]),
        (
            "Europe/Berlin",
            "2026-10-25",
            "0,15,30,45 2 * * *",
            ["25 02:00+0200", "25 02:15+0200", "25 02:30+0200", "25 02:45+0200"],
        ),
        ("America/New_York", "2026-11-01", "30 1 * * *", ["01 01:30-0400"]),
        ("Australia/Lord_Howe", "2027-04-04", "45 1 * * *", ["04 01:45+1100"]),
        ("Antarctica/Troll", "2026-10-25", "30 1,2 * * *", ["25 01:30+0200", "25 02:30+0200"]),
    ],
)
def test_a_repeated_fixed_time_fires_once_at_the_first(zone, day, expression, fires):
    assert local(cron(expression, zone), f"{day}T00:00", f"{day}T23:00") == fires


# `*` and steps keep real time: also through both runs of the hour.
@pytest.mark.parametrize("expression", ["*/5 * * * *", "0-59/5 * * * *", "0/5 * * * *", "*/5 0-23 * * *"])
@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", "2026-10-25"),
        ("Europe/Zurich", "2026-10-25"),
        ("America/New_York", "2026-11-01"),
        ("America/New_York", "2027-03-14"),
        ("Australia/Lord_Howe", "2027-04-04"),
        ("Australia/Lord_Howe", "2026-10-04"),
        ("Antarctica/Troll", "2027-03-28"),
    ],
)
def test_steps_keep_real_time_through_every_change_of_the_clock(expression, zone, day):
    begin = datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(hours=12)
    found = list(due_times(cron(expression, zone), begin, begin + timedelta(hours=48)))
    assert len(found) == 48 * 12
    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(minutes=5)}


def test_every_six_hours_means_the_wall_also_after_a_change_of_half_an_hour():
    rule = cron("0 */6 * * *", "Australia/Lord_Howe")
    times = ["03 18:00+1030", "04 00:00+1030", "04 06:00+1100", "04 12:00+1100"]
    assert local(rule, "2026-10-03T12:00", "2026-10-04T12:00") == times


def test_every_hour_runs_in_both_runs_of_the_repeated_hour():
    rule = cron("0 * * * *", "America/Los_Angeles")
    assert local(rule, "2026-11-01T00:30", "2026-11-01T03:00") == [
        "01 01:00-0700",
        "01 01:00-0800",
        "01 02:00-0800",
        "01 03:00-0800",
    ]


def test_a_step_within_a_fixed_hour_runs_in_both_of_it_and_not_in_a_skipped_one():
    rule = cron("*/30 2 * * *", "Europe/Berlin")
    assert local(rule, "2026-10-25T00:00", "2026-10-25T12:00") == [
        "25 02:00+0200",
        "25 02:30+0200",
        "25 02:00+0100",
        "25 02:30+0100",
    ]
    assert local(rule, "2027-03-28T00:00", "2027-03-28T12:00") == []


def test_a_daily_time_stays_the_same_on_the_wall_all_year():
    rule = cron("0 6 * * *", "Europe/Berlin")
    assert [time[3:8] for time in local(rule, "2026-10-22T12:00", "2026-10-27T12:00")] == ["06:00"] * 5
    year = local(rule, "2026-01-01T00:00", "2027-01-01T00:00")
    assert len(year) == 365
    assert {time[3:8] for time in year} == {"06:00"}


def test_29_february_comes_every_four_years_and_not_in_2100():
    years = [moment.year for moment in next_times(cron("0 12 29 2 *"), datetime(2027, 1, 1, tzinfo=UTC), 3)]
    assert years == [2028, 2032, 2036]
    assert next_times(cron("0 12 29 2 *"), datetime(2096, 3, 1, tzinfo=UTC), 1)[0].year == 2104


def test_a_day_of_the_month_that_never_comes_is_refused():
    with pytest.raises(InvalidField):
        check_cron("0 0 30 2 *")


@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Cairo", "UTC"]
)
@pytest.mark.parametrize(
    "expression", ["30 2 * * *", "*/7 * * * *", "15 1,2,3 * * *", "59 23 * * *", "0 0 * * 0", "0 */6 * * *"]
)
def test_windows_of_a_scheduler_give_exactly_what_the_preview_gives(zone, expression):
    rule = cron(expression, zone)
    for begin in (datetime(2026, 10, 24, tzinfo=UTC), datetime(2027, 3, 27, tzinfo=UTC), datetime(2026, 10, 3, tzinfo=UTC)):
        end = begin + timedelta(days=2)
        preview = list(due_times(rule, begin, end))
        assert preview == sorted(set(preview))
        for step in (timedelta(seconds=1800), timedelta(seconds=1801), timedelta(minutes=37)):
            assert walked(rule, begin, end, step) == preview


def test_a_grid_begins_at_its_anchor_and_keeps_to_it():
    rule = Rule(None, 10, None, "UTC", ANCHOR)
    assert next_times(rule, ANCHOR - timedelta(days=1), 2) == [
        ANCHOR + timedelta(seconds=10),
        ANCHOR + timedelta(seconds=20),
    ]
    assert next_times(rule, ANCHOR + timedelta(seconds=10), 1) == [ANCHOR + timedelta(seconds=20)]
    far = ANCHOR + timedelta(days=365, seconds=3)
    assert next_times(rule, far, 1) == [ANCHOR + timedelta(days=365, seconds=10)]
    assert walked(rule, ANCHOR, ANCHOR + timedelta(minutes=5), timedelta(seconds=13)) == next_times(rule, ANCHOR, 30)


def test_a_single_time_comes_once():
    rule = Rule(None, None, ANCHOR, "UTC", ANCHOR)
    assert next_times(rule, ANCHOR - timedelta(seconds=1), 5) == [ANCHOR]
    assert next_times(rule, ANCHOR, 5) == []


NOW = datetime(2026, 6, 1, 12, 0, 30, tzinfo=UTC)
EVERY_MINUTE = cron("* * * * *")


def planned(misfire: str, outage: timedelta, rule: Rule = EVERY_MINUTE):
    return plan(rule, misfire, NOW - outage, NOW, NOW + timedelta(seconds=90))


def minutes(moments: list[datetime]) -> list[int]:
    return [round((moment - NOW.replace(second=0)).total_seconds() / 60) for moment in moments]


def test_without_an_outage_every_policy_plans_the_same():
    for misfire in ("fire-once", "skip", "catch-up"):
        found = planned(misfire, timedelta(seconds=20))
        assert (minutes(found.dues), found.dropped) == ([1, 2], 0)


def test_what_is_less_than_a_minute_late_is_not_missed():
    for misfire in ("fire-once", "skip", "catch-up"):
        assert minutes(planned(misfire, timedelta(seconds=59)).dues) == [0, 1, 2]


def test_fire_once_fires_the_last_missed_time_only():
    found = planned("fire-once", timedelta(hours=3))
    assert (minutes(found.dues), found.dropped) == ([-1, 0, 1, 2], 178)


def test_skip_fires_none_of_them():
    assert minutes(planned("skip", timedelta(hours=3)).dues) == [0, 1, 2]


def test_catch_up_fires_all_up_to_a_hundred_and_counts_the_oldest_it_drops():
    found = planned("catch-up", timedelta(minutes=30))
    assert (minutes(found.dues), found.dropped) == (list(range(-29, 3)), 0)
    found = planned("catch-up", timedelta(minutes=150))
    assert len(found.dues) == MAX_CATCH_UP + 3
    assert minutes(found.dues)[:2] == [-100, -99]
    assert found.dropped > 0


@pytest.mark.timeout(300)  # walked minute by minute it would take an hour
def test_ten_years_of_outage_are_not_walked_minute_by_minute():
    for rule in (EVERY_MINUTE, Rule(None, 1, None, "UTC", ANCHOR - timedelta(days=4000)), cron("0 0 29 2 *")):
        assert planned("catch-up", timedelta(days=3650), rule).dues


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "* * * *",
        "* * * * * *",
        "0 0 L * *",
        "0 0 LW * *",
        "0 0 * * 5L",
        "0 0 * * 5#2",
        "@daily",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a * * * *",
        "1,,2 * * * *",
        "* * * * MOON",
        "٣ * * * *",
        "* * * * *;",
        "1/2/3 * * * *",
        "-1 * * * *",
    ],
)
def test_what_is_no_cron_of_five_fields_is_refused(expression):
    with pytest.raises(InvalidField) as refused:
        check_cron(expression)
    assert refused.value.details["field"] == "cron"


@pytest.mark.parametrize("expression", ["0 6 * JUL mon-fri", "*/5,3 0-6/2 1,15 * 7", "  0  6 * * * "])
def test_names_lists_ranges_and_steps_are_crons(expression):
    assert next_times(cron(check_cron(expression)), NOW, 1)


@pytest.mark.parametrize(
    "zone", ["", "Foo/Bar", "US/Pacific-New", "../etc/passwd", "Europe", "europe/berlin", "UTC+1", "/etc/localtime"]
)
def test_what_is_no_zone_is_refused(zone):
    with pytest.raises(InvalidField):
        check_zone(zone)


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory", "posix/UTC", "right/UTC", "../UTC", "utc", ""])
def test_a_zone_that_depends_on_the_machine_is_none(name, monkeypatch):
    found = timetable.available_timezones()
    monkeypatch.setattr(timetable, "available_timezones", lambda: found | {"localtime", "posixrules", "Factory"})
    timetable._zones.cache_clear()
    try:
        with pytest.raises(InvalidField):
            timetable.check_zone(name)
        assert timetable.check_zone("Europe/Berlin") and timetable.check_zone("UTC")
    finally:
        timetable._zones.cache_clear()
