from core.ids import uuid7


def test_ids_are_version_7_and_do_not_repeat():
    ids = [uuid7() for _ in range(1000)]
    assert {(made.version, made.variant) for made in ids} == {(7, "specified in RFC 4122")}
    assert len(set(ids)) == 1000


def test_ids_of_one_thread_sort_by_the_time_they_were_made():
    times = [uuid7().int >> 64 for _ in range(1000)]
    assert times == sorted(times)
