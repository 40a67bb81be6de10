"""The same against an S3 server over HTTP, with its conditional writes."""

import os
import urllib.request

import pytest
from moto.server import ThreadedMotoServer

from apps.topics.cold import store
from apps.topics.cold.cache import forget_opened
from apps.topics.models import Sweep
from apps.topics.operations import merge, reconcile
from tests.topics.cold import hot, let_leaving_go, make_old, offsets, publish, sweep, topic_of

pytestmark = pytest.mark.django_db
BUCKET = "towpath"


@pytest.fixture
def s3(settings, monkeypatch):
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    for name, value in {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    settings.TOWPATH = {**settings.TOWPATH, "COLD_URL": f"s3://{BUCKET}/a-{port}"}
    forget_opened()
    make_bucket(f"http://127.0.0.1:{port}")
    yield
    server.stop()


def make_bucket(url):
    """An object store has no call for it: a bucket is a PUT on its path."""
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request"}
    request = urllib.request.Request(f"{url}/{BUCKET}", method="PUT", headers=signed)
    urllib.request.urlopen(request, timeout=60).close()


def test_events_go_to_s3_and_are_read_across_the_seam(api, s3):
    topic = topic_of(api, hot_records=5)
    publish(api, topic, 60)
    assert sweep(topic) == 55 and len(hot(topic)) == 5
    records = api.get(f"/v1/topics/{topic.name}/partitions/0/records?from=0&limit=100").json()["records"]
    assert [record["offset"] for record in records] == list(range(60))
    assert len(list(store.listed(f"segments/{topic.uid}"))) == 1


def test_an_object_is_kept_and_another_under_its_name_refused(s3):
    store.put_if_absent("a/name", b"content")
    store.put_if_absent("a/name", b"content")
    with pytest.raises(store.StoreFailed, match="Another object"):
        store.put_if_absent("a/name", b"other")
    store.delete("a/name", "a/never")
    with pytest.raises(store.Missing):
        store.get("a/name")


def test_an_object_that_others_would_write_in_parts_is_kept_too(s3):
    content = os.urandom(12 * 1024 * 1024)
    store.put_if_absent("a/large", content)
    with pytest.raises(store.StoreFailed, match="Another object"):
        store.put_if_absent("a/large", content[::-1])
    assert store.get("a/large") == content


def test_small_segments_are_merged_there_and_their_sources_go(api, s3):
    topic = topic_of(api, hot_records=1, hot_seconds=10**8)
    publish(api, topic, 1)
    for number in range(4):
        publish(api, topic, 5, start=1 + 5 * number)
        sweep(topic)
    make_old(topic)
    assert merge.merge_topic(topic) == 4 and len(list(store.listed(f"segments/{topic.uid}"))) == 5
    assert let_leaving_go(topic) == 4 and len(list(store.listed(f"segments/{topic.uid}"))) == 1
    forget_opened()
    assert offsets(api, topic) == list(range(21))
    assert reconcile.reconcile_topic(topic) == 0 and Sweep.objects.get(topic=topic).problems == []


def test_a_store_that_is_gone_is_unavailable(s3, settings, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    settings.TOWPATH = {**settings.TOWPATH, "COLD_URL": "s3://gone/x"}
    monkeypatch.setattr(store, "FIRST_PAUSE", 0.001)
    with pytest.raises(store.StoreFailed):
        store.put_if_absent("a/name", b"content")
