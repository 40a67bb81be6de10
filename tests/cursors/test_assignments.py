"""Who reads which partition: fair, cooperative, fenced."""

import threading
from urllib.parse import quote

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.cursors.operations.assign import share
from apps.topics.selectors import resolve
from tests.factories import Api
from tests.logs import sql
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic(api):
    resolve.forget()  # a topic of this name in a test before
    api.post("/v1/topics", {"name": "t", "partitions": 8})
    api.post("/v1/topics/t/records", [{"partitionKey": str(n), "payload": "x"} for n in range(200)])


def join(api, member, ttl=60):
    answer = api.post("/v1/topics/t/groups/g/assignments", {"memberId": member, "ttlSeconds": ttl})
    assert answer.status_code == 200, answer.json()
    return {held["partition"]: held["fencingToken"] for held in answer.json()["partitions"]}


def commit(api, partition, offset, token=None):
    body = {"group": "g", "offset": offset} | ({} if token is None else {"fencingToken": token})
    return api.post(f"/v1/topics/t/partitions/{partition}/commit", body)


def run_out(member):
    sql("UPDATE group_member SET expires_at = statement_timestamp() - interval '1 s' WHERE member = %s", member)
    sql("UPDATE cursor SET held_until = statement_timestamp() - interval '1 s' WHERE holder = %s", member)


def test_the_first_member_holds_everything_and_keeps_its_tokens_when_it_renews(api, topic):
    held = join(api, "a")
    assert sorted(held) == list(range(8))
    assert join(api, "a") == held


def test_a_newcomer_gets_its_share_only_once_the_holder_has_given_it_up(api, topic):
    before = join(api, "a")
    assert join(api, "b") == {}
    assert commit(api, 7, 1, before[7]).status_code == 200  # still its own, in the middle of a page
    kept = join(api, "a")
    assert len(kept) == 4
    taken = join(api, "b")
    assert sorted([*kept, *taken]) == list(range(8))
    assert all(taken[partition] > before[partition] for partition in taken)


def test_what_a_member_holds_is_taken_over_when_its_time_is_over(api, topic):
    before = join(api, "a")
    join(api, "b")
    run_out("a")
    assert sorted(join(api, "b")) == list(range(8))
    late = commit(api, 0, 1, before[0])
    assert late.status_code == 409 and late.json()["error"]["code"] == "FENCED"


def test_while_held_only_the_current_token_commits_and_an_old_one_never_does(api, topic):
    old = join(api, "a")[0]
    assert commit(api, 0, 1).status_code == 409
    assert commit(api, 0, 1, old).status_code == 200
    run_out("a")
    assert commit(api, 0, 2, old).status_code == 200  # nobody has it since
    new = join(api, "b")[0]
    assert new > old
    run_out("b")
    assert commit(api, 0, 3, old).status_code == 409
    assert commit(api, 0, 3).status_code == 200


def test_who_leaves_frees_its_partitions_at_once_also_when_unknown(api, topic):
    join(api, "a/ä")
    assert api.delete("/v1/topics/t/groups/g/assignments/a%2F%C3%A4").status_code == 204
    assert api.delete("/v1/topics/t/groups/g/assignments/nobody").status_code == 204
    assert api.delete("/v1/topics/t/groups/none/assignments/nobody").status_code == 204
    assert len(join(api, "b")) == 8


def test_more_members_than_partitions_leave_some_with_none(api, topic):
    members = [f"m{n}" for n in range(10)]
    for _ in range(3):
        held = {member: join(api, member) for member in members}
    assert sorted(len(each) for each in held.values()) == [0, 0] + [1] * 8


def test_a_group_deleted_and_made_again_gives_no_token_twice(api, topic):
    old = join(api, "a")
    api.delete("/v1/topics/t/groups/g")
    assert all(token > old[partition] for partition, token in join(api, "a").items())


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 20), st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60))
def test_whoever_comes_and_goes_nobody_shares_and_all_is_spread_within_one_after_two_rounds(partitions, calls):
    holders = dict.fromkeys(range(partitions))
    members = sorted(set(calls))
    for member in [*calls, *members, *members]:
        mine = share(holders, members, member)
        assert all(holders[partition] in (None, member) for partition in mine)
        holders = {p: member if p in mine else None if holder == member else holder for p, holder in holders.items()}
    held = [list(holders.values()).count(member) for member in members]
    assert None not in holders.values() and max(held) - min(held) <= 1


@pytest.mark.django_db(transaction=True)
def test_members_that_come_at_once_never_hold_the_same_partition(api, topic):
    held, start = {}, threading.Barrier(6)

    def member(name):
        try:
            start.wait(PATIENCE)
            for _ in range(4):
                held[name] = join(Api(api.token), name)
        finally:
            connection.close()

    threads = [threading.Thread(target=member, args=(f"m{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    for name in sorted(held):
        held[name] = join(api, name)
    for name in sorted(held):
        held[name] = join(api, name)
    assert sorted(partition for each in held.values() for partition in each) == list(range(8))


@pytest.mark.parametrize("member", ["a\nb", "\x7f", "a\u2028b", "\u200d", ""])
def test_a_member_is_called_what_can_be_seen(api, topic, member):
    answer = api.post("/v1/topics/t/groups/g/assignments", {"memberId": member, "ttlSeconds": 60})
    assert (answer.status_code, answer.json()["error"]["details"]["field"]) == (400, "memberId")


@pytest.mark.parametrize("member", ["nobody", "a%0Ab", "%7F", "a%2Fb", "a/b", "x" * 300, "%E2%80%A8"])
def test_who_is_no_member_has_left(api, topic, member):
    assert api.delete(f"/v1/topics/t/groups/g/assignments/{member}").status_code == 204


def test_whoever_may_join_may_leave(api, topic):
    for member in ("a/b", "ä ö", "😀", "a%2Fb", "x" * 200):
        assert len(join(api, member)) == 8
        assert api.delete(f"/v1/topics/t/groups/g/assignments/{quote(member, safe='')}").status_code == 204
