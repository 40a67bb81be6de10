"""Workers that came by lately are counted beside their destination: one that nobody works for is seen at a glance."""

import csv

from tests.console import world

LIST = "/admin/destinations/destination/"


def test_the_list_and_its_file_count_the_workers_that_came_by_lately(login):
    billing = world.destination(world.topic(), "billing")
    world.seen(billing, "worker-of-this-morning", age=3600)
    client = login("Viewer")
    for number, said in ((0, "0 workers"), (1, "1 worker"), (2, "2 workers")):
        assert f'title="seen in the last 15 minutes">{said}</div>' in client.get(LIST).content.decode()
        (row,) = csv.DictReader(client.get(f"{LIST}csv/").getvalue().decode("utf-8-sig").splitlines())
        assert row["workers"] == str(number)
        world.seen(billing, f"worker-{number}", age=60)
