"""Dead letters over HTTP."""

from apps.access.models import Audit
from tests.destinations.world import DESTINATIONS, acknowledge, make, publish, pull


def parked(api, count=1, **fields):
    thing = make(api, maxDeliveries=1, **fields)
    publish(api, thing["topic"], count)
    batch = pull(api, thing["name"]).json()
    outcome = acknowledge(api, thing["name"], batch, "failed", error="boom 17").json()
    assert outcome["status"] == "parked"
    return thing, batch


def dead(api, name, query=""):
    answer = api.get(f"{DESTINATIONS}/{name}/dead-letters{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_dead_letter_shows_its_event_its_error_and_when(api):
    thing, batch = parked(api, 2)
    items = dead(api, thing["name"])["items"]
    assert [item["event"] for item in items] == batch["events"]
    first = items[0]
    assert (first["error"], first["deliveries"], first["state"], first["leaseId"]) == (
        "boom 17",
        1,
        "dead",
        batch["leaseId"],
    )
    assert first["firstSeenAt"] <= first["lastSeenAt"] and first["redrivenAt"] is None
    assert first["sequence"] == batch["events"][0]["sequence"]


def test_it_lists_by_page_state_and_fingerprint(api):
    thing, _ = parked(api, 3)
    page = dead(api, thing["name"], "?limit=2")
    assert len(page["items"]) == 2
    assert len(dead(api, thing["name"], f"?limit=2&cursor={page['nextCursor']}")["items"]) == 1
    assert len(dead(api, thing["name"], f"?fingerprint={page['items'][0]['fingerprint']}&state=dead")["items"]) == 3
    assert dead(api, thing["name"], "?state=redriven")["items"] == []
    assert api.get(f"{DESTINATIONS}/{thing['name']}/dead-letters?state=lost").status_code == 400


def test_looking_changes_nothing_and_redrive_delivers_to_this_destination_only(api):
    thing, batch = parked(api)
    other = make(api, topic=thing["topic"], startAt="head")
    [letter] = [dead(api, thing["name"])["items"][0] for _ in range(10)][-1:]
    redriven = api.post(f"{DESTINATIONS}/{thing['name']}/dead-letters/{letter['id']}/redrive", {"reason": "fixed"})
    assert redriven.status_code == 200 and redriven.json()["state"] == "redriven"
    again = pull(api, thing["name"]).json()
    assert (again["attempt"], again["events"]) == (1, batch["events"])
    assert acknowledge(api, thing["name"], again).json()["committed"] == batch["events"][0]["sequence"]
    assert pull(api, other["name"]).status_code == 204
    twice = api.post(f"{DESTINATIONS}/{thing['name']}/dead-letters/{letter['id']}/redrive")
    assert (twice.status_code, twice.json()["error"]["code"]) == (409, "ALREADY_REDRIVEN")
    assert Audit.objects.get(verb="redrive").reason == "fixed"


def test_discard_removes_it_and_is_recorded(api):
    thing, _ = parked(api)
    [letter] = dead(api, thing["name"])["items"]
    url = f"{DESTINATIONS}/{thing['name']}/dead-letters/{letter['id']}/discard"
    assert api.post(url).json()["state"] == "discarded"
    assert api.post(url).status_code == 404
    assert dead(api, thing["name"])["items"] == []
    assert Audit.objects.get(verb="discard").before["error"] == "boom 17"


def test_dead_letters_of_another_destination_are_not_found(api):
    thing, _ = parked(api)
    other = make(api)
    [letter] = dead(api, thing["name"])["items"]
    assert api.post(f"{DESTINATIONS}/{other['name']}/dead-letters/{letter['id']}/redrive").status_code == 404


def test_they_need_manage_events(api, api_with):
    thing, _ = parked(api)
    assert api_with("read:events").get(f"{DESTINATIONS}/{thing['name']}/dead-letters").status_code == 403


def test_an_operator_parks_a_lease(api):
    thing = make(api)
    publish(api, thing["topic"], 2)
    batch = pull(api, thing["name"]).json()
    answer = api.post(f"{DESTINATIONS}/{thing['name']}/leases/{batch['leaseId']}/park", {"reason": "poison"})
    assert answer.json() == {"leaseId": batch["leaseId"], "state": "parked", "deadLetters": 2}
    assert acknowledge(api, thing["name"], batch).json()["status"] == "stale"
    assert Audit.objects.get(verb="park").after == {"deadLetters": 2}
    assert pull(api, thing["name"]).status_code == 204
