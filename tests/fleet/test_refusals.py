"""What a fleet refuses, with the words that people read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline
from forebay.cli._fleet import broker_url
from forebay.engine.db import registry
from forebay.engine.work.registration import Registration, register_again
from forebay.errors import (
    ConfigError,
    DataError,
    DefinitionError,
    InvalidField,
    PermanentError,
    RequestError,
    SchemaError,
)
from forebay.fleet import brokers, wire
from forebay.fleet.bullmq import BullMQRunner, ProducedJobs
from forebay.fleet.outcomes import decode_outcome, encode_writes
from forebay.fleet.port import BrokerUnavailable, Drop, InputGone, InputRequest, Report, TaskEnd
from forebay.fleet.step_calls import NoDatabase, NoLimits, OfferArguments
from forebay.fleet.values import encode_value
from forebay.settings import Settings
from forebay.types import Statement
from tests.fleet._setups import Fleet

_NATS = "nats://127.0.0.1:4222"


@pytest.fixture
def pipeline() -> Pipeline[Any]:
    found: Pipeline[Any] = Pipeline("notes", dict, tables=["notes"])

    @found.step()
    async def write(ctx: Context, value: dict[str, Any]) -> None: ...

    return found


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("amqp://here", "no broker is known for addresses that begin with amqp://; set FOREBAY_BROKER_URL to "),
        ("amqp://here", "//; set FOREBAY_BROKER_URL to nats://host:4222 or redis://host:6379"),
        ("redis://", "the address of a Redis server is redis://host:6379, or redis://host:6379?prefix=name"),
        (
            "redis://here?prefix=a:b",
            "the address of a Redis server is redis://host:6379, or redis://host:6379?prefix=name",
        ),
        ("nats://", "the address of a NATS server is nats://host:4222, or nats://host:4222/prefix"),
    ],
)
def test_addresses(url: str, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        brokers.runner_port(url)
    assert message in str(caught.value)


def test_a_broker_is_named() -> None:
    with pytest.raises(InvalidField, match="is not set; it is the address of the broker, such as nats://host:4222"):
        broker_url(Settings())


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(DefinitionError, match=r"is missing: pip install 'forebay\[nats\]'"):
        brokers.runner_port(_NATS)


def test_producers_need_bullmq() -> None:
    message = "FOREBAY_BROKER_SUBMITS is for BullMQ: FOREBAY_BROKER_URL must begin with redis://"
    with pytest.raises(DefinitionError, match=message):
        brokers.produced_jobs(_NATS, "submits", [], "")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "data: must be an object with the fields pipeline and input"),
        (
            {"pipeline": "notes", "input": {}, "colour": 1},
            "colour: is not known; the fields are pipeline, input",
        ),
        ({"pipeline": "other", "input": {}}, "pipeline: 'other' is not known here; there are notes"),
        ({"pipeline": "notes"}, "input: is required"),
    ],
)
async def test_what_producers_add_is_checked(pipeline: Pipeline[Any], data: object, message: str) -> None:
    produced = ProducedJobs("redis://127.0.0.1:1", "submits", [pipeline], "")
    with pytest.raises(RequestError) as caught:
        produced._read(SimpleNamespace(data=data, id="1", timestamp=1))
    assert message in str(caught.value)


async def test_inputs_that_nobody_sends(bullmq: Fleet, jetstream: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = InputRequest("o", 1, 1)
    redis, nats = bullmq.runner_port(), jetstream.runner_port()
    assert isinstance(redis, BullMQRunner)
    await redis.open("runner", [])
    await nats.open("runner", [])
    with pytest.raises(InputGone, match="the dispatcher gone is not connected"):
        await redis.input("gone", asked)
    with pytest.raises(BrokerUnavailable, match="the dispatcher of the offer does not answer"):
        await nats.input("gone", asked)
    silent = await redis._link.subscribe("inputs", "silent")
    monkeypatch.setattr("forebay.fleet.bullmq.runner_side._INPUT_S", 1)
    with pytest.raises(BrokerUnavailable, match="the dispatcher silent has not sent an input for 1 s"):
        await redis.input("silent", asked)
    await silent.next()
    answer = asyncio.create_task(redis.input("silent", asked))
    reply = (await silent.next()).partition(b" ")[0].decode()
    await redis._link.redis.rpush(reply, "")
    with pytest.raises(InputGone, match="the dispatcher does not offer this task any more"):
        await answer
    await redis.close()
    await nats.close()


def test_what_a_step_returns_to_a_runner() -> None:
    message = "a step that runs in a fleet cannot return a Statement: return Rows, or let workers run it"
    with pytest.raises(DataError, match=message):
        encode_writes([Statement("select 1")])
    with pytest.raises(DataError, match="a runner cannot report a value of the type complex in a row"):
        encode_value(1j)
    large = Report("o", "d", "r", (TaskEnd(1, 1, 0.0, {"result": "x" * (17 << 20)}),))
    with pytest.raises(DataError, match=r"the result of the step has \d+ bytes as JSON; a runner can report \d+"):
        wire.encode_report(large)


_JOB = {"pipeline": "notes", "input": "{}", "owner": None}


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({}, "the runner's report of step notes.write is invalid: KeyError"),
        ({"kind": "odd"}, "the runner's report of step notes.write has the unknown kind 'odd'"),
        (
            {"kind": "done", "result": "1", "writes": [{"table": "job", "rows": [], "on_conflict": "error"}]},
            "a runner may not write into job: the pipeline notes does not declare this table (Pipeline(…, tables=[…]))",
        ),
        (
            {"kind": "done", "result": "1", "submits": [_JOB | {"owner": "ann"}]},
            "a runner may not submit a job for another owner",
        ),
        (
            {"kind": "done", "result": "1", "submits": [_JOB | {"pipeline": "other"}]},
            "a runner may not submit a job of the unknown pipeline other",
        ),
        (
            {"kind": "done", "result": "1", "submits": [_JOB | {"input": "7"}]},
            "the input of a job that a runner submits to notes is invalid",
        ),
    ],
)
def test_what_a_runner_reports(pipeline: Pipeline[Any], outcome: dict[str, Any], message: str) -> None:
    with pytest.raises(PermanentError) as caught:
        decode_outcome(outcome, pipeline.steps["write"], {"notes": pipeline})
    assert str(caught.value) == message


def test_what_a_runner_uses() -> None:
    message = (
        "the step uses the database, which runners of a fleet do not have: declare it with needs_database=True, "
        "so that workers run it"
    )
    with pytest.raises(ConfigError) as caught:
        _ = NoDatabase().acquire
    assert str(caught.value) == message
    message = "the step uses limits by itself, which needs the database: declare it with needs_database=True"
    with pytest.raises(ConfigError, match=message):
        _ = NoLimits().rate


async def test_a_task_whose_input_cannot_be_read_is_handed_back(pipeline: Pipeline[Any]) -> None:
    class Unreachable:
        async def input(self, *_: object) -> None:
            raise BrokerUnavailable("gone")

    offers: Any = {
        1: (SimpleNamespace(id="o", dispatcher="d"), SimpleNamespace(token=1, n=1, input=None, results=None))
    }
    port: Any = Unreachable()
    attempt: Any = SimpleNamespace(token=1, n=1, stop=None)
    with pytest.raises(asyncio.CancelledError):
        await OfferArguments(pipeline.steps["write"], port, offers).read(attempt)
    assert attempt.stop == "the input could not be read from the dispatcher: gone"


def test_messages_of_the_wire() -> None:
    with pytest.raises(wire.WireError, match=r"a message of \d+ bytes is longer than \d+"):
        wire.decode(Drop, b" " * (65 << 20))
    with pytest.raises(wire.WireError, match="protocol 2; this release speaks 1"):
        wire.decode(Drop, b'{"v": 2}')


async def test_a_registration_that_a_failover_has_lost(pipeline: Pipeline[Any], conn: asyncpg.Connection[Any]) -> None:
    version = await registry.register(conn, pipeline.definition(), None)
    steps = list(version.steps.values())
    at = datetime.now(UTC)
    number = await registry.register_worker(conn, "this:1", at, versions=[version.id], steps=steps, schedules=None)
    kept = Registration(number, "this:1", {"notes": version}, steps, None, at)
    await register_again(conn, kept, [pipeline], None)
    await conn.execute("delete from forebay.worker")
    for _ in range(2):  # it is made again, and is its own after the next failover, too
        await register_again(conn, kept, [pipeline], None)
    assert await conn.fetchval("select started_at from forebay.worker where id = $1", number) == at
    lost_it = f"a failover has lost the registration of worker {number}, "
    # Containers with a fixed host name and pid 1 have the same name.
    for lost in (replace(kept, name="other:2"), replace(kept, at=at + timedelta(seconds=1))):
        with pytest.raises(SchemaError, match=lost_it + "and its number means something else now; start it again"):
            await register_again(conn, lost, [pipeline], None)
