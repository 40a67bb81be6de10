"""A consumer group is moved in the browser: the preview, the name typed, and the way back."""

import pytest

from apps.access.models import Audit
from tests.browser.conftest import follow, photograph
from tests.console import world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def readers(server):
    """Two of four partitions are held, by members with long names."""
    topic = world.topic(partitions=4, name="orders")
    for partition in range(4):
        world.events(topic, 400, partition=partition, age=5400)
    made = world.group(topic, "readers")
    world.execute("UPDATE cursor SET position = 300 WHERE consumer_id = %s", made.consumer_id)
    for partition in range(2):
        world.assign(made, partition, f"member-{partition}-" + "of-the-second-data-centre-" * 4, seconds=3600)
    return made


def positions(consumer) -> list[int]:
    with world.connection.cursor() as cursor:
        cursor.execute("SELECT position FROM cursor WHERE consumer_id = %s ORDER BY partition", [consumer.consumer_id])
        return [row[0] for row in cursor.fetchall()]


def test_an_admin_moves_a_group_and_undoes_it(visit, readers):
    page = visit("Admin")
    page.goto("/admin/cursors/group/")
    follow(page, "a:text('readers')")
    photograph(page, "group-held")
    follow(page, "a:text('Seek…')")
    photograph(page, "group-seek")
    page.select_option("[name=to]", "sequence")
    page.fill("[name=sequence]", "000.00000000000000000100, 003.00000000000000000400")
    page.click("button:text('Preview')")
    page.wait_for_selector("text=200 events that were handed out before will be delivered again.")
    text = page.inner_text(".tp-effects")
    assert "100 events that are not settled yet will be skipped" in text and "1 assignment in the way ends" in text
    photograph(page, "group-seek-preview")
    page.fill("[name=reason]", "the parser was wrong")
    page.fill("[name=name]", "readers")
    page.click("button:text('Seek')")
    page.wait_for_selector("text=This is not orders/readers.")
    page.fill("[name=name]", "orders/readers")
    page.click("button:text('Seek')")
    page.wait_for_selector("text=orders/readers is moved.")
    assert positions(readers) == [100, 300, 300, 400]
    photograph(page, "group-seek-done")
    page.click("a:text('undo…')")
    page.fill("[name=reason]", "it was right")
    page.fill("[name=name]", "orders/readers")
    page.click("button:text('Seek')")
    page.wait_for_selector("text=it was right")
    assert positions(readers) == [300, 300, 300, 300]
    assert Audit.objects.filter(verb="seek", object_name="orders/readers").count() == 2
