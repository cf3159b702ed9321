"""Invalid input is rejected with a reason, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import asyncpg
import pytest

from forebay.engine.submit.producer import submit, submit_many
from forebay.errors import InputTooLarge, InvalidField, RequestError, UnknownPipeline
from tests.engine._producing import Page, counts, pages, papers, register, strangers

GOOD = Page(url="u")


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    assert await counts(conn) == {}, "nothing half-written"
    await conn.close()


def mutated(**changes: Any) -> Page:
    """A page that was changed without validation."""
    return GOOD.model_copy(update=changes)


DEEP: dict[str, Any] = {}
for _ in range(300):
    DEEP = {"in": DEEP}
LOOP: dict[str, Any] = {}
LOOP["again"] = LOOP

BAD_PAGES: list[tuple[Any, str]] = [
    ({}, ".url: Field required"),
    ({"url": 5}, ".url: Input should be a valid string"),
    ({"url": "u", "tags": ["a", 1]}, ".tags[1]: Input should be a valid string"),
    ("u", ": Input should be a valid dictionary or instance of Page"),
    (None, ": Input should be a valid dictionary or instance of Page"),
    (Page(url="a\x00b"), ".url: must not contain the character U+0000"),
    (Page(url="\\\x00"), ".url: must not contain the character U+0000"),
    (Page(url="u", tags=["x", "\x00"]), ".tags[1]: must not contain the character U+0000"),
    (mutated(url="\ud800"), ".url: is not valid Unicode"),
    (Page(url="u", rank=float("nan")), ".rank: must be a finite number"),
    (Page(url="u", rank=float("-inf")), ".rank: must be a finite number"),
]
BAD_PAPERS: list[tuple[Any, str]] = [
    ([1], ": Input should be a valid dictionary"),
    ({"a": {"b": [0, "\x00"]}}, ".a.b[1]: must not contain the character U+0000"),
    ({"a\x00": 1}, ": must not contain the character U+0000"),
    ({"a": "\udfff"}, ".a: is not valid Unicode"),
    ({"a": b"\xff"}, ".a: is not valid Unicode"),
    ({"a": float("inf")}, ".a: must be a finite number"),
    ({"a": [None, float("nan")]}, ".a[1]: must be a finite number"),
    ({"a": object}, ": cannot be written as JSON: Unable to serialize unknown type: <class 'type'>"),
    (LOOP, ": cannot be written as JSON: Circular reference detected (id repeated)"),
]
BAD_INPUTS = [(pages, *bad) for bad in BAD_PAGES] + [(papers, *bad) for bad in BAD_PAPERS]


@pytest.mark.parametrize(("pipeline", "value", "message"), BAD_INPUTS)
async def test_an_input(conn: asyncpg.Connection[Any], pipeline: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidField) as caught:
        await submit(conn, pipeline, value)
    assert str(caught.value) == f"input{message}"
    good: Any = GOOD if pipeline is pages else {}
    for before in (0, 2, 1300):
        with pytest.raises(InvalidField) as caught:
            await submit_many(conn, pipeline, [good] * before + [value, good])
        assert str(caught.value) == f"inputs[{before}]{message}"


async def test_a_model_changed_to_something_else(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match=r"^input: cannot be written as JSON: "):
        await submit(conn, pages, mutated(url=5))


async def test_nesting_that_has_no_end(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match=r"^input: is nested more than 100 levels deep$"):
        await submit(conn, papers, DEEP)


async def test_an_input_that_is_too_large(conn: asyncpg.Connection[Any]) -> None:
    size = len(Page(url="x" * 1001).model_dump_json())
    message = f"has {size} bytes; the pipeline takes at most 1000"
    with pytest.raises(InputTooLarge) as caught:
        await submit(conn, pages, Page(url="x" * 1001))
    assert str(caught.value) == f"input: {message}"
    for before in (3, 1300):
        with pytest.raises(InputTooLarge) as caught:
            await submit_many(conn, pages, [GOOD] * before + [Page(url="x" * 1001)])
        assert str(caught.value) == f"inputs[{before}]: {message}"


async def test_a_database_that_takes_less_than_the_code_says(conn: asyncpg.Connection[Any]) -> None:
    await conn.execute("update forebay.pipeline set max_input_bytes = 10")
    with pytest.raises(InputTooLarge, match=r"^input: has \d+ bytes; the pipeline takes at most 10$"):
        await submit(conn, pages, GOOD)
    with pytest.raises(InputTooLarge, match=r"^inputs\[0\]: has \d+ bytes; the pipeline takes at most 10$"):
        await submit_many(conn, pages, [GOOD, GOOD])
    with pytest.raises(InputTooLarge, match=r"^inputs: item 1 has \d+ bytes; the pipeline takes at most 10$"):
        await submit_many(conn, pages, [GOOD] * 1300)


FAR = "must be within the next ten years"
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"owner": ""}, "owner: must have 1 to 200 characters"),
    ({"owner": "x" * 201}, "owner: must have 1 to 200 characters"),
    ({"owner": None}, "owner: must be text, not NoneType"),
    ({"owner": "a\x00"}, "owner: must not contain the character U+0000"),
    ({"owner": "\ud800"}, "owner: is not valid Unicode"),
    ({"key": ""}, "key: must have 1 to 500 characters"),
    ({"key": "x" * 501}, "key: must have 1 to 500 characters"),
    ({"key": 5}, "key: must be text, not int"),
    ({"key": b"k"}, "key: must be text, not bytes"),
    ({"key": "\x00"}, "key: must not contain the character U+0000"),
    ({"priority": 101}, "priority: must be between -100 and 100"),
    ({"priority": -101}, "priority: must be between -100 and 100"),
    ({"priority": True}, "priority: must be between -100 and 100"),
    ({"priority": 1.0}, "priority: must be between -100 and 100"),
    ({"priority": None}, "priority: must be between -100 and 100"),
    ({"run_at": datetime(2030, 1, 1)}, "run_at: must have a time zone"),  # noqa: DTZ001
    ({"run_at": "2030-01-01T00:00:00Z"}, "run_at: must be a datetime, not str"),
    ({"run_at": datetime.max.replace(tzinfo=UTC)}, f"run_at: {FAR}"),
    ({"run_at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))}, f"run_at: {FAR}"),
    ({"run_at": datetime.now(UTC) + timedelta(days=3700)}, f"run_at: {FAR}"),
    ({"run_at": datetime.now(UTC), "delay": 1}, "delay: cannot be given together with run_at"),
    ({"delay": -1}, "delay: must be between 0 and ten years"),
    ({"delay": timedelta(seconds=-1)}, "delay: must be between 0 and ten years"),
    ({"delay": float("nan")}, "delay: must be between 0 and ten years"),
    ({"delay": float("inf")}, "delay: must be between 0 and ten years"),
    ({"delay": 1e12}, "delay: must be between 0 and ten years"),
    ({"delay": True}, "delay: must be seconds or a timedelta, not bool"),
    ({"delay": "1"}, "delay: must be seconds or a timedelta, not str"),
    ({"meta": [1]}, "meta: must be a mapping, not list"),
    ({"meta": {"a": "\x00"}}, "meta.a: must not contain the character U+0000"),
    ({"meta": {"a": float("nan")}}, "meta.a: must be a finite number"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
async def test_an_option(conn: asyncpg.Connection[Any], options: dict[str, Any], message: str) -> None:
    calls = (submit(conn, pages, GOOD, **options), submit_many(conn, pages, [GOOD] * 2, **options))
    for call in calls:
        with pytest.raises(InvalidField) as caught:
            await call
        assert str(caught.value) == message
        assert caught.value.field == message.partition(":")[0]


async def test_an_option_that_does_not_exist(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(TypeError, match="urgency"):
        await submit(conn, pages, GOOD, urgency=1)  # type: ignore[call-arg]


async def test_coalescing_without_a_key(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match=r"^key: is required for coalesce$"):
        await submit(conn, pages, GOOD, coalesce=True)


@pytest.mark.parametrize("many", [3, 1300])
@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "must have 1 to 500 characters"),
        ("x" * 501, "must have 1 to 500 characters"),
        (7, "must be text, not int"),
        ("a\x00", "must not contain the character U+0000"),
        ("\ud800", "is not valid Unicode"),
    ],
)
async def test_the_key_of_an_item(conn: asyncpg.Connection[Any], key: Any, reason: str, many: int) -> None:
    keys = [f"k{n}" for n in range(many - 1)] + [key]
    with pytest.raises(InvalidField) as caught:
        await submit_many(conn, pages, [GOOD] * many, keys=keys)
    assert str(caught.value) == f"keys[{many - 1}]: {reason}"


@pytest.mark.parametrize("many", [3, 256, 1300])
@pytest.mark.parametrize("difference", [-1, 1])
async def test_keys_that_are_not_as_many_as_inputs(conn: asyncpg.Connection[Any], many: int, difference: int) -> None:
    with pytest.raises(InvalidField, match=r"^keys: must have as many entries as inputs$"):
        await submit_many(conn, pages, [GOOD] * many, keys=[None] * (many + difference))


@pytest.mark.parametrize("many", [1, 2, 1300])
async def test_a_pipeline_that_nobody_registered(conn: asyncpg.Connection[Any], many: int) -> None:
    with pytest.raises(UnknownPipeline) as caught:
        await submit_many(conn, strangers, [GOOD] * many)
    assert str(caught.value) == (
        "pipeline: there is no pipeline 'strangers' here: start its worker, or run `forebay migrate --pipelines MODULE`"
    )


# The same from other languages, with plain SQL.

ONE, MANY = "select forebay.submit('pages', ", "select forebay.submit_many('pages', "
JOBS = "select forebay.submit_jobs('pages', "
SQL: list[tuple[str, str, str]] = [
    (
        "select forebay.submit('nobodys', '{}')",
        "FB001",
        "pipeline: there is no pipeline 'nobodys' here: start its worker, or run `forebay migrate --pipelines MODULE`",
    ),
    (ONE + "null)", "FB002", "input: must be a JSON value, not an SQL null"),
    (ONE + "'{}', owner => '')", "FB002", "owner: must have 1 to 200 characters"),
    (ONE + "'{}', owner => null)", "FB002", "owner: must have 1 to 200 characters"),
    (ONE + "'{}', key => '')", "FB002", "key: must have 1 to 500 characters"),
    (ONE + "'{}', priority => 101)", "FB002", "priority: must be between -100 and 100"),
    (ONE + "'{}', priority => null)", "FB002", "priority: must be between -100 and 100"),
    (ONE + "'{}', run_at => 'infinity')", "FB002", f"run_at: {FAR}"),
    (ONE + "'{}', run_at => '-infinity')", "FB002", f"run_at: {FAR}"),
    (ONE + "'{}', run_at => now() + interval '11 years')", "FB002", f"run_at: {FAR}"),
    (ONE + "to_jsonb(repeat('x', 1001)))", "FB003", "input: has 1003 bytes; the pipeline takes at most 1000"),
    (ONE + "'{}', \"coalesce\" => true)", "FB002", "key: is required for coalesce"),
    (ONE + "'{}', unique_states => '{QUEUED}')", "FB002", "key: is required for unique"),
    (ONE + "'{}', unique_period => interval '1 hour')", "FB002", "key: is required for unique"),
    (
        ONE + "'{}', key => 'k', \"coalesce\" => true, unique_period => interval '1 hour')",
        "FB002",
        "unique: cannot be given together with coalesce",
    ),
    (MANY + "array['{}']::jsonb[], unique_states => '{QUEUED}')", "FB002", "key: is required for unique"),
    (JOBS + "array['{}']::jsonb[], unique_period => interval '1 hour')", "FB002", "keys: are required for unique"),
    (MANY + "null)", "FB002", "inputs: must be JSON values, not SQL nulls"),
    (MANY + "array['{}', null]::jsonb[])", "FB002", "inputs: must be JSON values, not SQL nulls"),
    (MANY + "array['{}']::jsonb[], keys => '{a,b}')", "FB002", "keys: must have as many entries as inputs"),
    (MANY + "array['{}', '{}']::jsonb[], keys => '{a,\"\"}')", "FB002", "keys[1]: must have 1 to 500 characters"),
    (
        MANY + "array['{}']::jsonb[], keys => array[repeat('x', 501)])",
        "FB002",
        "keys[0]: must have 1 to 500 characters",
    ),
    (ONE + "'{}', key => repeat('x', 501))", "FB002", "key: must have 1 to 500 characters"),
    (
        JOBS + "array['{}']::jsonb[], keys => array[repeat('x', 501)])",
        "FB002",
        "keys[0]: must have 1 to 500 characters",
    ),
    (
        MANY + "array['{}', to_jsonb(repeat('x', 1001))])",
        "FB003",
        "inputs[1]: has 1003 bytes; the pipeline takes at most 1000",
    ),
]


@pytest.mark.parametrize(("statement", "sqlstate", "message"), SQL)
async def test_plain_sql(conn: asyncpg.Connection[Any], statement: str, sqlstate: str, message: str) -> None:
    with pytest.raises(asyncpg.PostgresError) as caught:
        await conn.execute(statement)
    assert (caught.value.sqlstate, str(caught.value)) == (sqlstate, message)
    assert caught.value.as_dict()["column_name"] == message.partition(":")[0]


@pytest.mark.parametrize("text", ['{"a": "\\u0000"}', '{"a": NaN}', "{", '"\\ud800"', "\x00"])
async def test_plain_sql_with_broken_json(conn: asyncpg.Connection[Any], text: str) -> None:
    with pytest.raises(asyncpg.PostgresError):
        await conn.execute("select forebay.submit('pages', $1::text::jsonb)", text)


async def test_a_refusal_names_its_field(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(RequestError) as caught:
        await submit(conn, pages, json.loads('{"url": null}'))
    assert (caught.value.field, caught.value.reason) == ("input.url", "Input should be a valid string")


async def test_max_wait_is_for_coalescing_submits(conn: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match=r"^max_wait: is for coalesce only$"):
        await submit(conn, pages, Page(url="a"), key="k", max_wait=1)
    with pytest.raises(InvalidField, match=r"^max_wait: must be between 0 and ten years$"):
        await submit(conn, pages, Page(url="a"), key="k", coalesce=True, max_wait=-1)
    transaction = conn.transaction()
    await transaction.start()
    one = await submit(conn, pages, Page(url="a"), key="k", coalesce=True, delay=3600, max_wait=timedelta(seconds=1))
    wait = "select run_at - now() < interval '1 minute' from forebay.scheduled where job_id = $1"
    assert await conn.fetchval(wait, one.job_id)
    await transaction.rollback()
