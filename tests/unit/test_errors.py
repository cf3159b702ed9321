"""The messages of errors, and the values that they omit."""

# demands: S2-98

from __future__ import annotations

import asyncpg
import pytest

from forebay.db.pool import database_unavailable
from forebay.engine.work.attempt import reason_of
from forebay.errors import DataError, message_without_values, one_line


@pytest.mark.parametrize(
    "text",
    [
        'duplicate key value violates unique constraint "users_email"\nDETAIL:  Key (email)=(ann@example.org) exists.',
        "null value in column\nCONTEXT:  COPY users, line 1: hunter2",
        "(psycopg.errors.Unique) duplicate key\n[SQL: insert into t values (%s)]\n[parameters: ('hunter2',)]",
    ],
)
def test_values_of_rows_are_left_out(text: str) -> None:
    error = RuntimeError(text)
    assert message_without_values(error) == one_line(error) == text.partition("\n")[0]
    assert reason_of(error) == f"RuntimeError: {text.partition(chr(10))[0]}"


async def test_what_the_server_says_about_a_row_is_left_out(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table users (email text unique); insert into users values ('ann@example.org')")
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        await conn.execute("insert into users values ('ann@example.org')")
    await conn.close()
    assert "ann@example.org" in str(caught.value)
    assert "ann@example.org" not in reason_of(caught.value)
    assert reason_of(caught.value).startswith("UniqueViolationError: duplicate key value")


def test_lines_of_a_reason_are_kept() -> None:
    error = DataError("first\nsecond")
    assert message_without_values(error) == "first\nsecond"
    assert one_line(error) == "first"
    assert one_line(KeyError()) == "KeyError"


def test_an_address_that_cannot_be_read_is_not_repeated() -> None:
    said = str(database_unavailable(ValueError("invalid literal for int(): 'hunter2@db'")))
    assert "hunter2" not in said
    assert said == (
        "cannot use the database: its address is invalid."
        " Check that PostgreSQL runs and that FOREBAY_DATABASE_URL is right."
    )
