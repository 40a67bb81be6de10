"""Arrays built by hand arrive as what they were."""

from uuid import UUID

import psycopg
import pytest
from django.db import connection

from core.arrays import integers, smallints, texts, uuids


def stored(array: bytes, kind: str) -> object:
    connection.ensure_connection()
    row = (
        psycopg.Cursor(connection.connection)
        .execute("SELECT %(array)b, pg_typeof(%(array)b)::text", {"array": array})
        .fetchone()
    )
    assert row is not None and row[1] == kind
    return row[0]


@pytest.mark.django_db
@pytest.mark.parametrize("values", [[], [None], ["a", None, ""], ["é😀", "x" * 5000, '{"\\,}'], ["NULL"]])
def test_texts(values: list[str | None]) -> None:
    assert stored(texts(values), "text[]") == values


@pytest.mark.django_db
@pytest.mark.parametrize("values", [[], [0], [1, -2, 32767, -32768]])
def test_numbers(values: list[int]) -> None:
    assert stored(smallints(values), "smallint[]") == values
    assert stored(integers([value * 65_536 for value in values]), "integer[]") == [value * 65_536 for value in values]


@pytest.mark.django_db
@pytest.mark.parametrize("values", [[], [None], ["00112233445566778899aabbccddeeff", None, "f" * 32]])
def test_uuids(values: list[str | None]) -> None:
    assert stored(uuids(values), "uuid[]") == [value and UUID(value) for value in values]
