"""POST /v1/topics/{topic}/records."""

import pytest

from tests.factories import Api, unique


@pytest.fixture
def records(api: Api) -> str:
    return f"/v1/topics/{unique('orders')}/records"


def test_it_answers_one_group_a_partition_in_order_of_first_appearance(api: Api, records: str) -> None:
    answer = api.post(
        records,
        [
            {"partitionKey": "a", "payload": "1"},
            {"partitionKey": "", "payload": "2"},
            {"partitionKey": "a", "payload": "3"},
        ],
    )
    assert answer.status_code == 202
    first, second = answer.json()
    load = first.pop("load")
    assert first == {
        "partition": 4,
        "success": True,
        "firstOffset": 0,
        "nextOffset": 2,
        "offsets": [0, 1],
        "accepted": 2,
        "duplicates": 0,
    }
    assert set(load) == {"hotRecords", "hotBytes", "recordsPerSecond", "backlog"}
    assert load["hotRecords"] == 2 and load["hotBytes"] > 0
    assert second["partition"] == 5 and second["offsets"] == [0]


def test_a_repeat_answers_the_first_position_even_with_another_body(api: Api, records: str) -> None:
    api.post(records, [{"partitionKey": "a", "payload": "1", "key": "k1"}, {"partitionKey": "a", "payload": "2"}])
    answer = api.post(
        records,
        [
            {"partitionKey": "a", "payload": "3", "key": "k2"},
            {"partitionKey": "a", "payload": "other", "key": "k1"},
            {"partitionKey": "a", "payload": "4", "key": "k2"},
            {"partitionKey": "a", "payload": "5"},
        ],
    ).json()[0]
    answer.pop("load")
    assert answer == {
        "partition": 4,
        "success": True,
        "firstOffset": 2,
        "nextOffset": 4,
        "offsets": [2, 0, 2, 3],
        "accepted": 2,
        "duplicates": 2,
    }
