"""What the way to a view costs: the event loop alone, a plain view, all middleware, a view of the API with its token."""

from tests.benchmarks import load, place
from tests.benchmarks.client import Client
from tests.benchmarks.load import Load
from tests.serving import Server


def get(client: Client, number: int, path: str) -> int:
    status, body = client.send("GET", path)
    assert status == 200, (path, status, body[:300])
    return 1


def main() -> None:
    with (
        place.server() as (server, token),
        Server(server.database_url, place.SETTINGS, patient=False, TOWPATH_ACCESS_LOG="0") as silent,
    ):
        ways = [
            Load("plain view, silent", get, silent.place, arguments={"path": "/v1/plain"}),
            Load("plain view", get, server.place, arguments={"path": "/v1/plain"}),
            Load("event loop alone", get, server.place, arguments={"path": "/healthz"}),
            Load("plain view, all middleware", get, server.place, arguments={"path": "/plain"}),
            Load("API view with token", get, server.place, token, arguments={"path": "/v1/rest"}),
        ]
        print(load.table(load.side_by_side(ways)))
