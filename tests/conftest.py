"""The fixture world shared by all tests; builders are in tests/factories.py."""

from collections.abc import Callable

import pytest

from tests.factories import Api, api_key


@pytest.fixture
def api(db: None) -> Api:
    """A client with every scope."""
    return Api(api_key())


@pytest.fixture
def api_with(db: None) -> Callable[..., Api]:
    """Makes clients with these scopes only: `api_with("read:events orders.*", "write:events")`."""
    return lambda *scopes: Api(api_key(*scopes))


@pytest.fixture
def anyone(db: None) -> Api:
    """A client without a token."""
    return Api()
