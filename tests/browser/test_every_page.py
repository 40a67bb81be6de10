"""The pages that the other tests here do not come by: they fit, and axe finds no serious fault. None is forgotten."""

import pytest
from django.contrib.auth.models import Group
from django.urls import URLPattern, get_resolver

from apps.channels.models import Channel, ChannelKind
from apps.cursors.models import Group as Readers
from apps.queues.models import Queue, Schedule
from tests.browser.conftest import photograph
from tests.console import world
from tests.factories import Api, api_key

pytestmark = pytest.mark.django_db(transaction=True)

# What is photographed by the tests of its own system.
ELSEWHERE = """
    index leases dead_letters dead_letter_group dead_letter dead_letter_act dead_letter_resubmit
    console_bulk_changelist console_bulk_change console_bulk_new console_bulk_cancel
    destinations_destination_changelist destinations_destination_change destinations_destination_pause
    destinations_destination_resume destinations_destination_seek destinations_destination_test
    destinations_destination_resend destinations_lease_expire destinations_lease_park destinations_letter_redrive
    destinations_letter_discard cursors_group_changelist cursors_group_change
    queues_queue_changelist queues_queue_change queues_queue_event queues_queue_act queues_schedule_changelist
    queues_schedule_change topics_topic_changelist topics_topic_change topics_topic_event
    channels_channel_changelist channels_channel_change channels_channel_follow channels_channel_revoke_all
    access_apikey_changelist access_apikey_add access_apikey_change access_apikey_revoke
    access_oauthclient_change access_oauthclient_disable access_audit_changelist access_audit_change
""".split()
# Files, parts of pages, what asks as another page does, and Django's own forms, which nothing here leads to.
NO_PAGES = """
    overview_live destinations_destination_live console_bulk_live channels_channel_grant
    leases_csv dead_letters_csv dead_letter_group_csv access_audit_csv destinations_destination_csv
    queues_queue_csv queues_queue_events_csv topics_topic_csv topics_topic_events_csv
    queues_queue_event_raw topics_topic_event_raw channels_channel_event_raw
    channels_channel_revoke access_oauthclient_enable access_oauthclient_remove access_oauthclient_rotate
    access_apikey_rotate
    search login logout password_change password_change_done autocomplete jsi18n view_on_site app_list
    auth_user_password_change
""".split()
DJANGO = ("_add", "_delete", "_history", "_change")


@pytest.fixture
def pages(server) -> dict[str, str]:
    """By the name of its URL, a path to each."""
    api = Api(api_key())
    topic = world.topic(partitions=8, name="orders.europe-west.checkout")
    billing = world.destination(topic, "billing")
    world.group(topic, "readers")
    lease = world.lease(billing, 0, 0, 1, error="ValueError: " + "long " * 60)
    mails = Queue.objects.create(name="mails")
    dead = world.dead_event(mails, error="SMTP " + "x" * 500)
    assert api.post("/v1/schedules", {"queue": "mails", "name": "s", "payload": {}, "everySeconds": 60}).status_code == 201
    kind = ChannelKind.objects.get(name="job")
    channel = Channel.objects.create(name="job:42", kind=kind, last_sequence=1)
    world.execute(
        "INSERT INTO channel_event VALUES (%s, 1, now(), 10, 'e1', 'job.made', %s)", channel.pk, '{"n":"' + "x" * 400 + '"}'
    )
    home, queue = f"/admin/destinations/destination/{billing.pk}", f"/admin/queues/queue/{mails.pk}"
    return {
        "destinations_lease_extend": f"{home}/leases/{lease}/extend/",
        "cursors_group_seek": f"/admin/cursors/group/{Readers.objects.get().pk}/seek/",
        "queues_queue_event_act": f"{queue}/events/{dead}/do/redrive/",
        "resubmit_event": f"/admin/dead-letters/queues/{mails.pk}/{dead}/resubmit/",
        "queues_schedule_act": f"/admin/queues/schedule/{Schedule.objects.get().pk}/do/run-now/",
        "topics_topic_publish": f"/admin/topics/topic/{topic.pk}/publish/",
        "channels_channel_event": f"/admin/channels/channel/{channel.pk}/events/1/",
        "channels_channel_end": f"/admin/channels/channel/{channel.pk}/delete/",
        "channels_channelkind_changelist": "/admin/channels/channelkind/",
        "channels_channelkind_change": f"/admin/channels/channelkind/{kind.pk}/change/",
        "access_oauthclient_changelist": "/admin/access/oauthclient/",
        "access_oauthclient_add": "/admin/access/oauthclient/add/",
        "django_celery_beat_periodictask_changelist": "/admin/django_celery_beat/periodictask/",
        "auth_user_changelist": "/admin/auth/user/",
        "auth_group_changelist": "/admin/auth/group/",
    }


def test_the_remaining_pages_fit_and_have_no_serious_fault(visit, person, pages):
    pages["auth_user_change"] = f"/admin/auth/user/{person('root', 'Admin').pk}/change/"
    pages["auth_group_change"] = f"/admin/auth/group/{Group.objects.get(name='Viewer').pk}/change/"
    world.execute("UPDATE auth_user SET is_superuser = true WHERE username = 'root'")
    page = visit("Admin", name="root")
    for name, path in pages.items():
        assert page.goto(path).status == 200, path
        photograph(page, f"further-{name}")


def test_no_page_is_forgotten(pages):
    names = {each.name for each in _patterns(get_resolver().namespace_dict["admin"][1]) if each.name}
    forms = {name for name in names if name.endswith(DJANGO)}
    known = {*ELSEWHERE, *NO_PAGES, *pages}
    assert sorted(names - forms - known) == []
    assert sorted(known - names) == []


def _patterns(resolver) -> list[URLPattern]:
    found = []
    for each in resolver.url_patterns:
        found += [each] if isinstance(each, URLPattern) else _patterns(each)
    return found
