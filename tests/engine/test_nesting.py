"""JSON that is nested too deeply to be shown is rejected by every interface; all other JSON is accepted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from forebay.engine.submit.nesting import MAX_DEPTH, is_too_deep
from forebay.engine.submit.producer import submit, submit_many
from forebay.errors import InvalidField
from tests.engine._producing import papers, register

TOO_DEEP = "is nested more than 100 levels deep"
# The innermost values, and how many levels they add.
INSIDES = {"": 0, '"]"': 0, r'"[{\\\"["': 0, "[1, 2], 3": 1, '"x", {"y": []}': 2}


def nested(depth: int, inside: str = "") -> str:
    """A list in an object in a list, and so on."""
    odd = depth % 2
    return '{"a":[' * (depth // 2) + "[" * odd + inside + "]" * odd + "]}" * (depth // 2)


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


def adapters(conn: asyncpg.Connection[Any], text: str) -> list[tuple[str, Callable[[], Awaitable[Any]]]]:
    """All functions that take JSON, and their names for it."""
    value = json.loads(text)
    many = "select forebay.submit_many('papers', "
    one = "select forebay.submit('papers', "
    schedule = "select forebay.put_schedule('s', 'papers', 'ann', '* * * * *', 'UTC', $1, 0, now())"
    return [
        ("input", lambda: submit(conn, papers, value)),
        ("inputs[1]", lambda: submit_many(conn, papers, [{}, value])),
        ("inputs[1300]", lambda: submit_many(conn, papers, [{}] * 1300 + [value])),
        ("meta", lambda: submit(conn, papers, {}, meta=value)),
        ("meta", lambda: submit_many(conn, papers, [{}], meta=value)),
        ("input", lambda: conn.fetch(f"{one} $1)", text)),
        ("input", lambda: conn.fetch(f"{one} $1, key => 'k')", text)),
        ("input", lambda: conn.fetch(f"{one} $1, key => 'c', \"coalesce\" => true)", text)),
        ("meta", lambda: conn.fetch(f"{one} '{{}}', meta => $1)", text)),
        ("meta", lambda: conn.fetch(f"{one} '{{}}', key => 'm', meta => $1)", text)),
        ("meta", lambda: conn.fetch(f"{one} '{{}}', key => 'c', \"coalesce\" => true, meta => $1)", text)),
        ("inputs[1]", lambda: conn.fetch(f"{many} array['{{}}', $1::jsonb])", text)),
        ("meta", lambda: conn.fetch(f"{many} array['{{}}'::jsonb], meta => $1)", text)),
        ("input", lambda: conn.fetch(schedule, text)),
    ]


async def test_what_is_just_deep_enough_is_taken(conn: asyncpg.Connection[Any]) -> None:
    await submit(conn, papers, {}, key="c", coalesce=True)
    for inside, levels in INSIDES.items():
        for _, adapter in adapters(conn, nested(MAX_DEPTH - levels, inside)):
            await adapter()


async def test_what_is_deeper_is_refused(conn: asyncpg.Connection[Any]) -> None:
    await submit(conn, papers, {}, key="c", coalesce=True)
    for inside, levels in INSIDES.items():
        for depth in (MAX_DEPTH - levels + 1, 180):
            for field, adapter in adapters(conn, nested(depth, inside)):
                with pytest.raises((InvalidField, asyncpg.PostgresError)) as caught:
                    await adapter()
                assert str(caught.value) == f"{field}: {TOO_DEEP}"
                if isinstance(caught.value, asyncpg.PostgresError):
                    assert (caught.value.sqlstate, caught.value.column_name) == ("FB002", field)
    assert await conn.fetchval("select count(*) from forebay.job") == 1


async def test_a_schedule_and_a_replacement_keep_what_they_had(conn: asyncpg.Connection[Any]) -> None:
    await conn.fetch("select forebay.submit('papers', '{\"n\": 1}', key => 'c', \"coalesce\" => true)")
    with pytest.raises(asyncpg.PostgresError, match=TOO_DEEP):
        await conn.fetch("select forebay.submit('papers', $1, key => 'c', \"coalesce\" => true)", nested(101))
    assert await conn.fetchval("select input ->> 'n' from forebay.item") == "1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" + "[]," * 5000 + "1]", False),
        (json.dumps({"text": "[{" * 5000}), False),
        (json.dumps(["\\", "[" * 200, '"', "]" * 5]), False),
        (nested(100), False),
        (nested(101), True),
        (nested(5000), True),
        ("[" + nested(99) + "," + nested(99) + "]", False),
        ("[" + nested(99) + "," + nested(100) + "]", True),
    ],
)
def test_how_deep_it_is(text: str, expected: bool) -> None:
    assert is_too_deep(text.encode()) is expected
