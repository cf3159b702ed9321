"""Traces from the request of a caller to the settle of the last step, as a collector receives them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import asyncpg
import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider

from forebay.cli._common import load_settings
from forebay.engine.db import tasks
from forebay.engine.work import spans
from forebay.errors import ForebayError, InvalidField
from forebay.settings import Settings
from forebay.telemetry import tracing
from forebay.testing import testbed
from tests.cli._run import Cli, Process, ask, until
from tests.telemetry._collector import Collector
from tests.telemetry._letters import Letter, letters, parcels

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
ALL_ENDED = "select count(*) = 0 from forebay.job where finished_at is null"

app = TracerProvider().get_tracer("app")  # of a program that has set OpenTelemetry up for itself


def address_of(api: Process) -> str:
    api.says("api_started")
    return "http://127.0.0.1:" + api.said.partition('"address": "http://127.0.0.1:')[2].partition('"')[0]


def stop(process: Process) -> None:
    process.signal(signal.SIGTERM)
    assert process.ends() == 0, process.said


def lines(process: Process, event: str) -> list[dict[str, Any]]:
    said = process.said.replace("}{", "}\n{").splitlines()  # children write to the same file
    return [line for line in map(json.loads, filter(None, said)) if line.get("event") == event]


# -- end to end ---------------------------------------------------------------------------------------------------


def test_a_request_and_its_work_are_one_trace(
    collector: Collector, start: Callable[..., Process], token: str, dsn: str
) -> None:
    # The worker is configured by OpenTelemetry's variables alone, and its children are traced, not the supervisor.
    worker = start(
        "worker", "--processes", "2", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SERVICE_NAME="post office"
    )
    api = start("api", FOREBAY_OTLP_ENDPOINT=collector.url)
    worker.says("worker_started", times=4)  # by the supervisor, and by its children
    headers = {
        "x-note": "private",
        "authorization": f"Bearer {token}",
        "traceparent": f"00-{TRACE}-{CALLER}-01",
        "user-agent": "test/1",
    }
    answer = httpx.post(
        f"{address_of(api)}/api/jobs",
        headers=headers,
        json={"pipeline": "letters", "input": {"body": "hello"}},
        timeout=60,
    )
    assert answer.status_code == 201, answer.text
    job = int(answer.json()["jobId"])
    until(lambda: ask(dsn, ALL_ENDED))
    stop(worker)
    stop(api)

    assert {span.trace for span in collector.spans} == {TRACE}
    request = collector.find("POST /api/jobs")
    assert (request.kind, request.parent, request.failed) == ("server", CALLER, False)
    assert request.attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 201,
        "http.route": "/api/jobs",
        "url.scheme": "http",
        "url.path": "/api/jobs",
        "network.protocol.version": "1.1",
        "server.address": "127.0.0.1",
        "server.port": int(address_of(api).rpartition(":")[2]),
        "client.address": "127.0.0.1",
        "user_agent.original": "test/1",
    }
    assert (request.resource["service.name"], request.resource["forebay.role"]) == ("forebay", "api")
    sent = collector.under(request)["submit letters"]
    assert (sent.kind, sent.attributes["forebay.job.id"]) == ("producer", job)
    assert collector.under(sent).keys() == {"letters.read", "letters.stamp"}
    owner = ask(dsn, "select owner_id from forebay.job where id = %s", job)
    for name, own in (("read", "look up"), ("stamp", "print")):
        step = collector.find(f"letters.{name}")
        assert (step.kind, step.failed) == ("consumer", False)
        assert step.attributes == {
            "messaging.system": "forebay",
            "messaging.operation.type": "process",
            "messaging.destination.name": f"letters.{name}",
            "forebay.job.id": job,
            "forebay.item.n": 1,
            "forebay.attempt": 1,
            "forebay.owner.id": owner,
            "forebay.outcome": "DONE",
        }
        assert (step.resource["service.name"], step.resource["forebay.role"]) == ("post office", "worker")
        inside = collector.under(step)
        assert inside.keys() == {"claim", own, "settle"}
        assert inside["claim"].began <= inside["claim"].ended == step.began <= step.ended
        assert step.ended == inside["settle"].began <= inside["settle"].ended
    (logged,) = lines(worker, "looked_up")
    assert (logged["trace_id"], logged["span_id"]) == (TRACE, collector.find("look up").id)


def test_a_step_that_fails_says_why(
    collector: Collector, start: Callable[..., Process], conn: asyncpg.Connection[Any], dsn: str
) -> None:
    worker = start("worker", FOREBAY_OTLP_ENDPOINT=f"{collector.url}/")
    worker.says("worker_started")
    ask(dsn, """select forebay.submit('letters', '{"body": "broken"}')""")
    until(lambda: ask(dsn, ALL_ENDED))
    stop(worker)
    step = collector.find("letters.read")
    assert step.parent == ""  # nobody has said where it belongs: it begins a trace
    assert (step.failed, step.status) == (True, "broken on purpose")
    assert (step.attributes["forebay.outcome"], step.attributes["error.type"]) == ("ERROR", "data")
    assert collector.under(step).keys() == {"claim", "settle"}


def test_what_fails_here_is_a_failed_span(
    collector: Collector, start: Callable[..., Process], token: str, dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    ask(dsn, "alter table forebay.item rename column input to put_in")
    api = start("api", FOREBAY_OTLP_ENDPOINT=collector.url)
    headers = {"authorization": f"Bearer {token}"}
    body = {"pipeline": "letters", "input": {"body": "hello"}}
    assert httpx.post(f"{address_of(api)}/api/jobs", headers=headers, json=body, timeout=60).status_code == 500
    assert httpx.request("BREW", f"{address_of(api)}/nowhere", timeout=60).status_code == 404
    stop(api)
    request = collector.find("POST /api/jobs")
    assert (request.failed, request.attributes["error.type"]) == (True, "500")
    sent = collector.under(request)["submit letters"]
    assert (sent.failed, sent.status) == (True, "UndefinedColumnError")
    (failure,) = lines(api, "request_failed")
    assert (failure["trace_id"], failure["span_id"]) == (request.trace, request.id)
    stranger = collector.find("HTTP")
    assert (stranger.attributes["http.request.method"], stranger.attributes["url.path"]) == ("_OTHER", "/nowhere")
    assert not stranger.failed


# -- the worker ---------------------------------------------------------------------------------------------------


async def test_a_batch_is_one_call_and_many_attempts(traced: Collector, dsn: str) -> None:
    async with testbed(dsn, [parcels]) as bed:
        with app.start_as_current_span("save") as saving:
            await parcels.submit_many(bed.pool, [Letter(body="a"), Letter(body="bb")])
        await bed.finish()
    tracing.stop()
    here = f"{saving.get_span_context().trace_id:032x}"
    sent, call = traced.find("submit parcels"), traced.find("parcels.weigh batch")
    assert (call.trace, call.parent, call.links) == (here, sent.id, [sent.id])
    assert call.attributes["messaging.batch.message_count"] == 2
    items = [span for span in traced.spans if span.name == "parcels.weigh"]
    assert {span.attributes["forebay.item.n"] for span in items} == {1, 2}
    for span in items:
        assert (span.trace, span.parent, span.links) == (here, sent.id, [call.id])
        assert traced.under(span).keys() == {"claim", "settle"}


async def test_a_batch_of_several_traces_belongs_to_none(traced: Collector, dsn: str) -> None:
    async with testbed(dsn, [parcels]) as bed:
        for body in ("a", "bb"):
            with app.start_as_current_span("save"):
                await parcels.submit(bed.pool, Letter(body=body))
        await bed.finish()
    tracing.stop()
    call = traced.find("parcels.weigh batch")
    sent = [span for span in traced.spans if span.name == "submit parcels"]
    assert len({span.trace for span in (*sent, call)}) == 3
    assert set(call.links) == {span.id for span in sent}


async def test_an_input_that_cannot_be_read_has_a_span(
    traced: Collector, dsn: str, conn: asyncpg.Connection[Any]
) -> None:
    await conn.execute("""select forebay.submit('letters', '{"subject": "?"}')""")
    async with testbed(dsn, [letters], migrated=True) as bed:
        await bed.finish()
    tracing.stop()
    step = traced.find("letters.read")
    assert (step.failed, step.status) == (True, "input.body: Field required")


async def test_a_queue_that_is_parked_says_why(traced: Collector, dsn: str) -> None:
    async with testbed(dsn, [letters]) as bed:
        await letters.submit(bed.pool, Letter(body="unset"))
        await bed.run()
    tracing.stop()
    step = traced.find("letters.read")
    assert (step.failed, step.status) == (True, "no key for the reading service")
    assert (step.attributes["forebay.outcome"], step.attributes["error.type"]) == ("RELEASED", "config")


@pytest.mark.parametrize("said", ["nonsense", "00-0-0-00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
async def test_what_is_no_trace_is_left_alone(
    traced: Collector, dsn: str, conn: asyncpg.Connection[Any], said: str
) -> None:
    async with conn.transaction():
        await conn.execute("select set_config('forebay.trace', $1, true)", said)
        await conn.execute("""select forebay.submit('letters', '{"body": "a"}')""")
    async with testbed(dsn, [letters], migrated=True) as bed:
        await bed.finish()
        assert (await bed.item(1)).status == "DONE"
    tracing.stop()
    assert traced.find("letters.read").parent == ""


@pytest.mark.parametrize("trouble", [OSError("gone"), TimeoutError(), asyncpg.InsufficientPrivilegeError("no")])
async def test_a_claim_survives_when_traces_cannot_be_read(
    traced: Collector, dsn: str, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    async def fail(*_: object) -> dict[int, str]:
        raise trouble

    monkeypatch.setattr(tasks, "traces", fail)
    async with testbed(dsn, [letters]) as bed:
        with app.start_as_current_span("save"):
            job = await letters.submit(bed.pool, Letter(body="a"))
        await bed.finish()
        assert (await bed.item(job)).status == "DONE"
    tracing.stop()
    assert traced.find("letters.read").parent == ""


async def test_traces_of_jobs_are_remembered(traced: Collector, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = tasks.traces

    async def noted(pool: Any, jobs: Any) -> dict[int, str]:
        asked.extend(jobs)
        return await read(pool, jobs)

    monkeypatch.setattr(tasks, "traces", noted)
    monkeypatch.setattr(spans, "_REMEMBERED", 1)
    async with testbed(dsn, [letters]) as bed:
        job = (await letters.submit(bed.pool, Letter(body="a"))).job_id
        await bed.finish()  # two steps, and one question
        other = (await letters.submit(bed.pool, Letter(body="b"))).job_id
        await bed.finish()
        assert asked == [job, other]
        await bed.pool.execute("select forebay.reprocess($1, '{DONE}')", job)
        await bed.finish()
    assert asked == [job, other, job]


# -- errors -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["closed", "silent"])
def lost_collector(request: pytest.FixtureRequest) -> Any:
    """The address of a collector that does not exist, and of one that accepts everything and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if request.param == "closed":
            listener.close()
            with socket.create_server(("127.0.0.1", 0)) as found:
                port = found.getsockname()[1]
            yield f"http://127.0.0.1:{port}"
            return
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_work_goes_on_without_its_collector(
    lost_collector: str, start: Callable[..., Process], conn: asyncpg.Connection[Any], dsn: str
) -> None:
    worker = start("worker", FOREBAY_OTLP_ENDPOINT=lost_collector)
    worker.says("worker_started")
    ask(dsn, """select count(forebay.submit('letters', '{"body": "a"}')) from generate_series(1, 500)""")
    until(lambda: ask(dsn, ALL_ENDED), lambda: worker.said)
    stop(worker)
    assert ask(dsn, "select count(*) from forebay.item where status = 'DONE'") == 500
    assert lines(worker, "spans_not_sent") or lines(worker, "spans_given_up")
    assert not [line for line in worker.said.splitlines() if not line.startswith("{")]


_WORK = """
import asyncio, sys
from forebay.testing import testbed
from forebay.example import Text, texts

async def main(dsn):
    async with testbed(dsn, [texts], migrated=True) as bed:
        await bed.submit(texts, Text(title="a", body="b"))
        await bed.finish()

asyncio.run(main(sys.argv[1]))
print([name for name in sys.modules if name.startswith(("opentelemetry", "sentry_sdk"))])
"""
# FastAPI needs the interfaces of OpenTelemetry; the implementation behind them is not installed.
_SERVE = """
import sys
from forebay.api.app import create_app
from forebay.example import texts
from forebay.settings import Settings

app = create_app(sys.argv[1], Settings(), [texts])
print([name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter", "sentry_sdk"))]
      + [it.cls.__name__ for it in app.user_middleware if it.cls.__name__ == "Traced"])
"""


@pytest.mark.parametrize("program", [_WORK, _SERVE], ids=["worker", "api"])
def test_it_is_off_unless_it_is_configured(dsn: str, cli: Cli, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program, dsn], env=cli.env, cwd=cli.folder, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stderr


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, False),
        ({"FOREBAY_OTLP_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_which_variables_turn_it_on(variables: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tracing.is_wanted(load_settings()) is wanted


def test_the_address_may_be_the_collectors_or_that_of_its_traces() -> None:
    assert tracing.traces_url("http://c:4318/") == "http://c:4318/v1/traces"
    assert tracing.traces_url("https://c/otlp") == "https://c/otlp/v1/traces"
    assert tracing.traces_url("http://c:4318/v1/traces") == "http://c:4318/v1/traces"


@pytest.mark.parametrize("endpoint", ["localhost:4318", "grpc://c:4317", "http://", "http://c:99999", "http://[c"])
def test_an_address_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidField, match="FOREBAY_OTLP_ENDPOINT: must be an address like http://localhost:4318"):
        tracing.start(Settings(otlp_endpoint=endpoint), "test")


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "is_installed", lambda: False)
    with pytest.raises(
        ForebayError, match="tracing is configured, but not installed: pip install 'forebay\\[tracing\\]'"
    ):
        tracing.start(Settings(otlp_endpoint="http://localhost:4318"), "test")


@pytest.mark.parametrize("command", [("worker",), ("worker", "--processes", "2"), ("api",), ("up",)])
def test_a_wrong_address_is_told_at_the_start(cli: Cli, command: tuple[str, ...]) -> None:
    refused = cli.run(*command, FOREBAY_OTLP_ENDPOINT="localhost")
    assert refused.code == 2
    assert refused.err == "forebay: FOREBAY_OTLP_ENDPOINT: must be an address like http://localhost:4318\n"
