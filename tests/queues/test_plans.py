"""Which index each hot statement walks on filled tables, by the plan that a prepared statement keeps."""

import pytest

from apps.queues.models import State
from apps.queues.selectors import dead_letters, events
from tests.architecture.sources import ROOT
from tests.architecture.test_plans import plan
from tests.queues.conftest import execute

pytestmark = pytest.mark.django_db

SQL = ROOT / "apps" / "queues" / "operations" / "sql"
FILL = """INSERT INTO queue_event (
        queue_id, id, state, priority, scheduled_at, due_at, died_at, group_key, enqueued_at, payload
    ) SELECT %s, gen_random_uuid(), %s, n %% 5, statement_timestamp(),
        CASE WHEN %s IN ('leased', 'waiting') THEN statement_timestamp() + n * interval '1 minute' END,
        CASE WHEN %s = 'dead' THEN statement_timestamp() END, CASE WHEN %s = 'blocked' THEN 'k' || n %% 7 END,
        statement_timestamp(), '{}' FROM generate_series(1, 800) AS n"""


@pytest.fixture
def filled(worker) -> int:
    (number,) = execute("SELECT id FROM queue WHERE name = %s", worker.queue)[0]
    for state in State:
        execute(FILL, number, *[state.value] * 4)
    execute("ANALYZE queue_event")
    return number


@pytest.mark.parametrize(
    ("statement", "indexes"),
    [
        ("claim", {"queue_event_ready", "queue_event_pkey"}),
        ("promote", {"queue_event_due", "queue_event_pkey"}),
        ("enqueue", {"queue_event_group"}),
        ("heartbeat", {"queue_event_pkey"}),
        ("acknowledge", {"queue_event_pkey", "queue_event_group"}),
        ("acknowledge_several", {"queue_event_pkey", "queue_event_group"}),
        ("lock_groups_of", {"queue_event_pkey"}),
        ("nack", {"queue_event_pkey", "queue_event_group"}),
        ("exhausted", {"queue_event_due"}),
        ("release_groups", {"queue_event_pkey", "queue_event_group"}),
        ("take_back", {"queue_event_fired"}),
    ],
)
def test_a_hot_statement_walks_its_own_index(filled, statement, indexes):
    found = plan((SQL / f"{statement}.sql").read_text())
    assert {
        node["Index Name"] for node in found if node.get("Relation Name") == "queue_event" and "Index Name" in node
    } == indexes
    assert not [node for node in found if node["Node Type"] == "Seq Scan" and node["Relation Name"] == "queue_event"]


@pytest.mark.parametrize(
    ("state", "index"),
    [
        ("ready", "queue_event_ready"),
        ("leased", "queue_event_due"),
        ("waiting", "queue_event_due"),
        ("dead", "queue_event_dead"),
    ],
)
def test_a_list_of_one_state_can_use_the_index_of_that_state(filled, state, index):
    execute("SET LOCAL enable_seqscan = off")
    text = events(filled, [State(state)])[:10].explain()
    assert index in text or "queue_event_pkey" in text
    assert "queue_event_dead" in dead_letters(filled)[:10].explain()
