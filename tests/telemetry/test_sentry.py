"""What is sent to Sentry, and what is not."""

# demands: S2-97, S2-99

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import asyncpg
import httpx
import pytest
import structlog
from pydantic import SecretStr

from forebay import log, telemetry
from forebay.engine.db import registry
from forebay.engine.loops import every
from forebay.errors import ForebayError, InvalidField
from forebay.settings import Settings
from forebay.telemetry import sentry as reports
from tests.cli._run import Cli, Process, ask, until
from tests.telemetry._envelopes import Sentry
from tests.telemetry._letters import letters
from tests.telemetry.test_tracing import address_of

PRIVATE = "what-only-ann-knows"

# An unexpected error whose message repeats the caller's data.
TALKATIVE = """
create function talk() returns trigger language plpgsql as $$ begin
    raise exception 'cannot store %', new.input using detail = new.input; end $$;
create trigger talk before insert on forebay.item for each row execute function talk();
"""


@pytest.fixture
def known(dsn: str) -> None:
    async def register() -> None:
        conn = await asyncpg.connect(dsn)
        await registry.register(conn, letters.definition())
        await conn.close()

    asyncio.run(register())


def stop(process: Process) -> None:
    process.signal(signal.SIGTERM)
    assert process.ends() == 0, process.said


def test_what_goes_wrong_in_the_api_is_reported_without_what_was_sent(
    sentry: Sentry, start: Callable[..., Process], token: str, dsn: str, known: None
) -> None:
    ask(dsn, TALKATIVE)
    api = start("api", FOREBAY_SENTRY_DSN=sentry.dsn)
    answer = httpx.post(
        f"{address_of(api)}/api/jobs",
        headers={"authorization": f"Bearer {token}", "cookie": f"mine={PRIVATE}", "x-note": PRIVATE},
        json={"pipeline": "letters", "input": {"body": PRIVATE}, "meta": {"note": PRIVATE}},
        timeout=60,
    )
    assert answer.status_code == 500
    missing = httpx.get(f"{address_of(api)}/api/jobs/77", headers={"authorization": f"Bearer {token}"}, timeout=60)
    assert missing.status_code == 404
    stop(api)
    (event,) = sentry.events
    (value,) = event["exception"]["values"]
    assert (value["type"], value["value"], event["level"]) == ("RaiseError", "[hidden]", "error")
    assert value["stacktrace"]["frames"]
    assert event["message"] == "request_failed"
    assert (event["tags"], event["logger"]) == ({"role": "api"}, "forebay.api")
    request = answer.headers["x-request-id"]
    assert event["extra"] == {"part": "api", "method": "POST", "path": "/api/jobs", "request": request}
    assert "request" not in event
    _tells_nothing(sentry, dsn, token)


def test_what_workers_log_as_errors_is_reported_and_so_are_items_that_fail_for_good(
    sentry: Sentry, start: Callable[..., Process], token: str, dsn: str, known: None
) -> None:
    worker = start("worker", FOREBAY_SENTRY_DSN=sentry.dsn)
    worker.says("worker_started")
    ask(
        dsn, f"""select count(forebay.submit('letters', '{{"body": "broken {PRIVATE}"}}')) from generate_series(1, 8)"""
    )
    until(lambda: ask(dsn, "select count(*) = 8 from forebay.item where status = 'ERROR'"))
    ask(dsn, f"""select forebay.submit('letters', '{{"body": "unset {PRIVATE}"}}')""")
    worker.says("queue_parked")
    stop(worker)
    failed = [event for event in sentry.events if event["message"] == "item_failed"]
    assert [event["extra"].get("repeated") for event in failed] == [None] * 5 + [3]  # however many fail
    for event in failed:
        assert event["fingerprint"] == ["item_failed", "letters.read", "data"]
        assert event["tags"] == {"role": "worker", "step": "letters.read", "error_class": "data"}
    about = failed[0]["extra"]
    assert about.pop("duration_s") >= 0
    assert about == {
        "part": "worker", "step": "letters.read", "error_class": "data", "reason": "broken on purpose", "job": 1,
        "item": 1, "attempt": 1,
    }  # fmt: skip
    (event,) = [event for event in sentry.events if event["message"] == "queue_parked"]
    assert (event["level"], event["tags"]) == ("error", {"role": "worker"})
    assert event["extra"] == {
        "part": "worker",
        "queue": "letters.read",
        "reason": "no key for the reading service",
    }
    _tells_nothing(sentry, dsn, token)


def test_a_worker_that_was_lost_is_reported_by_its_supervisor(
    sentry: Sentry, start: Callable[..., Process], dsn: str, known: None
) -> None:
    supervisor = start("worker", "--processes", "2", FOREBAY_SENTRY_DSN=sentry.dsn)
    supervisor.says("worker_started", times=4)  # by itself, and by them
    name = ask(dsn, "select name from forebay.worker order by id limit 1")
    os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
    sentry.until(1)
    stop(supervisor)
    (event,) = sentry.events
    assert (event["tags"], event["extra"]["signal"]) == ({"role": "supervisor"}, "SIGKILL")


def _tells_nothing(sentry: Sentry, dsn: str, token: str) -> None:
    everything = "\n".join(sentry.raw)
    password = dsn.partition("://")[2].partition(":")[2].partition("@")[0]
    assert password
    for secret in (PRIVATE, token, password, '"vars"', "cookie"):
        assert secret not in everything


async def test_a_loop_that_fails_unexpectedly_says_so_as_an_error() -> None:
    ticks = iter([ConnectionResetError("gone"), ZeroDivisionError("nobody thought of this")])

    async def tick() -> None:
        if (error := next(ticks, None)) is None:
            raise asyncio.CancelledError
        raise error

    with structlog.testing.capture_logs() as said, pytest.raises(asyncio.CancelledError):
        await every(0.001, "test", tick, longest=0.001)
    assert [(line["event"], line["log_level"], line.get("exc_info")) for line in said] == [
        ("tick_failed", "warning", None),
        ("tick_failed", "error", True),
    ]


def _fail() -> None:
    raise ValueError("of a kind\nDETAIL: row (secret)") from KeyError("first")


@pytest.mark.parametrize("level", ["error", "critical"])
def test_levels_and_exceptions(sentry: Sentry, level: str, capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("info", json_lines=True)
    with telemetry.running(_settings(sentry), "test"):
        logger = log.get_logger("engine")
        logger.warning("nothing_much")
        try:
            _fail()
        except ValueError as error:
            getattr(logger, level)("it_failed", exc_info=error, count=3)
            logger.exception("it_failed_again")
            logger.exception("and_again", exc_info=(type(error), error, error.__traceback__))
    first, second, third = sentry.events
    assert first["level"] == ("error" if level == "error" else "fatal")
    assert first["extra"] == {"part": "engine", "count": 3}
    for event in (first, second, third):
        assert [value["value"] for value in event["exception"]["values"]] == ["'first'", "of a kind"]
    log.get_logger("engine").error("after_the_end")
    assert len(sentry.events) == 3


def test_what_ends_the_process_is_reported_unless_it_is_told_to_its_starter(sentry: Sentry) -> None:
    for error in (ForebayError("told"), KeyboardInterrupt(), ZeroDivisionError("not told")):
        with pytest.raises(type(error)), telemetry.running(_settings(sentry), "test"):
            raise error
    (event,) = sentry.events
    assert (event["message"], event["level"]) == ("process_failed", "fatal")


def test_the_password_of_the_database_is_hidden_wherever_it_stands() -> None:
    settings = Settings(database_url=SecretStr("postgresql://ann:s3cr%2Ft@db/app"), sentry_dsn=None)
    passwords = reports._passwords(settings)  # pyright: ignore[reportPrivateUsage]
    event: dict[str, Any] = {
        "message": "cannot use s3cr/t",
        "extra": {"urls": ["postgresql://ann:s3cr%2Ft@db/app", 5]},
        "request": {"data": "body"},
        "exception": {"values": [{"value": "s3cr/t", "stacktrace": {"frames": [{"vars": {"a": "b"}, "lineno": 1}]}}]},
    }
    assert reports.without_secrets(event, passwords) == {
        "message": "cannot use [hidden]",
        "extra": {"urls": ["[hidden]", 5]},
        "exception": {"values": [{"value": "[hidden]", "stacktrace": {"frames": [{"lineno": 1}]}}]},
    }


@pytest.mark.parametrize(
    "dsn", ["nonsense", "ftp://key@host/1", "https://host/1", "https://key@host/x", "https://k@h:x/1"]
)
def test_an_address_that_is_none_is_refused(dsn: str) -> None:
    with pytest.raises(
        InvalidField, match=r"^FOREBAY_SENTRY_DSN: must be an address like https://key@sentry\.example\.com/1$"
    ):
        reports.start(Settings(sentry_dsn=SecretStr(dsn)), "test")


def test_it_is_told_at_the_start(cli: Cli) -> None:
    refused = cli.run("worker", FOREBAY_SENTRY_DSN="nonsense-with-a-key")
    assert refused.code == 2
    assert "FOREBAY_SENTRY_DSN: must be an address like" in refused.err
    assert "nonsense-with-a-key" not in refused.err


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "is_installed", lambda: False)
    with pytest.raises(
        ForebayError, match="Sentry is configured, but not installed: pip install 'forebay\\[sentry\\]'"
    ):
        reports.start(Settings(sentry_dsn=SecretStr("https://key@host/1")), "test")


def test_an_empty_address_is_none() -> None:
    reports.start(Settings(sentry_dsn=SecretStr("")), "test")
    assert reports._reporter is None  # pyright: ignore[reportPrivateUsage]


def _settings(sentry: Sentry) -> Settings:
    return Settings(sentry_dsn=SecretStr(sentry.dsn))
