"""What counts as settled in the samples: what was acknowledged or given up, and no other way for a position to move."""

from importlib import import_module

import pytest

from apps.cursors.models import Group
from apps.destinations.admin import cells
from apps.destinations.models import Destination
from apps.destinations.operations.sample import sample_lag
from apps.destinations.selectors import find
from apps.destinations.selectors.samples import history
from apps.destinations.selectors.status import statuses
from apps.leases.operations.pull import Nothing
from tests.console import world
from tests.destinations.world import DESTINATIONS, acknowledge, make, make_topic, publish, pull, sql
from tests.logs import Log

pytestmark = pytest.mark.django_db
AS_SAMPLED = import_module("apps.cursors.migrations.0003_jumped").AS_SAMPLED


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()


def key(thing):
    return Destination.objects.values_list("topic_id", "consumer_id").get(name=thing["name"])


def settled(*consumer):
    return sum(partition.settled for partition in statuses([consumer])[consumer].partitions)


def sought(api, thing, to):
    answer = api.post(f"{DESTINATIONS}/{thing['name']}/seek", {"to": to, "reason": "test"})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_one_that_starts_at_the_head_has_settled_nothing(api):
    topic = make_topic(partitions=2)
    publish(api, topic, 30)
    thing = make(api, topic=topic, startAt="head")
    sample_lag()
    (sample,) = history(*key(thing), seconds=60)
    assert (sample.head, sample.settled) == (30, 0)
    publish(api, topic, 5, first=30)
    acknowledge(api, thing["name"], pull(api, thing["name"]).json())
    assert settled(*key(thing)) == 5


def test_what_is_leased_is_not_settled_and_what_is_acknowledged_is_whatever_the_order(api):
    thing = make(api)
    publish(api, thing["topic"], 30)
    first, second = (pull(api, thing["name"], limit=10, workerId=worker).json() for worker in "ab")
    assert settled(*key(thing)) == 0
    acknowledge(api, thing["name"], second)
    assert settled(*key(thing)) == 10
    acknowledge(api, thing["name"], first)
    assert settled(*key(thing)) == 20


def test_a_seek_settles_nothing_forward_back_or_undone(api):
    thing = make(api)
    publish(api, thing["topic"], 30)
    name = thing["name"]
    acknowledge(api, name, pull(api, name, limit=10).json())
    pull(api, name, limit=5)  # superseded by the first
    for place in ("head", "oldest", "head"):
        before = sought(api, thing, place)["before"]
        assert settled(*key(thing)) == 10, place
    sought(api, thing, {"sequence": before[0]})
    assert settled(*key(thing)) == 10
    sought(api, thing, "oldest")
    acknowledge(api, name, pull(api, name, limit=10).json())
    assert settled(*key(thing)) == 20


def test_a_seek_forward_is_no_acknowledgement_on_the_page(api):
    thing = make(api)
    publish(api, thing["topic"], 30)
    found = Destination.objects.get(name=thing["name"])
    world.sample(found, age=600, lag=30, settled=settled(*key(thing)), head=30)
    sought(api, thing, "head")
    sample_lag()
    row = cells.rows([found])[found.pk]
    assert row.acknowledged_at is None and row.trend.rate_out == 0


def test_an_acknowledgement_is_seen_on_the_page_and_giving_up_is_none(api):
    thing = make(api, maxDeliveries=1)
    publish(api, thing["topic"], 30)
    found = Destination.objects.get(name=thing["name"])
    world.sample(found, age=600, lag=30, settled=0, head=30)
    assert acknowledge(api, thing["name"], pull(api, thing["name"], limit=10).json(), "failed").json()["status"] == "parked"
    sample_lag()
    row = cells.rows([found])[found.pk]
    assert row.acknowledged_at is None and row.trend.rate_out > 0 and settled(*key(thing)) == 10
    acknowledge(api, thing["name"], pull(api, thing["name"]).json())
    assert cells.rows([found])[found.pk].acknowledged_at is not None and settled(*key(thing)) == 30


def test_a_filter_settles_what_it_takes_and_not_what_it_leaves_out():
    log = Log.make()
    for kind in ("a", "b", "a", "b", "b"):
        log.append(2, kind=kind)
    reader = log.consumer(types=["a"])
    lease = reader.pull("w")
    assert settled(log.topic.id, reader.number) == 0
    reader.ok(lease)
    while not isinstance(more := reader.pull("w"), Nothing):
        reader.ok(more)
    assert settled(log.topic.id, reader.number) == 4


def test_what_failed_in_part_is_settled_but_for_what_failed(api):
    thing = make(api)
    publish(api, thing["topic"], 10)
    batch = pull(api, thing["name"]).json()
    failed = [event["sequence"] for event in batch["events"][3:5]]
    answer = acknowledge(api, thing["name"], batch, "failed", failedSequences=failed)
    assert answer.status_code == 200, answer.content
    assert settled(*key(thing)) == 8
    pull(api, thing["name"], limit=1)  # the rest becomes a lease of its own
    assert settled(*key(thing)) == 8


def test_samples_go_on_where_they_were_when_the_count_begins():
    log = Log.make()
    log.append(30)
    reader = log.consumer()
    reader.ok(reader.pull("w", limit=10))
    held = reader.pull("w", limit=5)
    reader.pull("v", limit=5)
    sql("UPDATE cursor SET jumped = 0")
    sql(AS_SAMPLED)
    assert settled(log.topic.id, reader.number) == 10
    reader.ok(held)
    assert settled(log.topic.id, reader.number) == 15


def test_a_group_settles_what_it_commits_but_for_what_retention_took(api):
    topic = make_topic()
    publish(api, topic, 30)
    place = f"/v1/topics/{topic}/partitions/0/commit"
    assert api.post(place, {"group": "readers", "offset": 5}).status_code == 200
    group = Group.objects.get(name="readers")
    assert settled(group.topic_id, group.consumer_id) == 5
    sql("UPDATE topic_partition SET oldest_offset = 20 WHERE topic_id = %s", group.topic_id)
    assert api.post(place, {"group": "readers", "offset": 20}).status_code == 200
    assert settled(group.topic_id, group.consumer_id) == 5
    assert api.post(place, {"group": "readers", "offset": 23}).status_code == 200
    assert settled(group.topic_id, group.consumer_id) == 8
