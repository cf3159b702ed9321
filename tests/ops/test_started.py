"""What chart, compose file and units start, runs on a real PostgreSQL, answers its probes, and stops."""

# demands: S1-118

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from forebay.cli._command_list import _OWN_COMMANDS
from forebay.identity.logins import login_urls
from forebay.packages import settings_classes
from forebay.settings import Settings
from tests._servers import PASSWORDS
from tests.cli import _run
from tests.cli._forks import Forked
from tests.cli._run import Cli, Process, until
from tests.ops import application
from tests.ops._chart import EXAMPLES, of_kind, render
from tests.ops._programs import Program, compose, of_chart, of_compose, of_units
from tests.ops._prometheus import OPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TOKEN = "the token of collectors"
_SETTINGS = {"FOREBAY_SIGNING_KEY": "s" * 32, "FOREBAY_METRICS_TOKEN": TOKEN}
_READY = {
    "api": "api_started",
    "worker": "worker_started",
    "dispatch": "dispatcher_started",
    "runner": "runner_started",
}
_KNOWN = Settings.variables().union(*(kind.variables() for kind in settings_classes().values()))


@pytest.mark.parametrize("values", EXAMPLES, ids=[each.stem for each in EXAMPLES])
def test_what_the_chart_starts(values: Path, dsn: str, broker: str, tmp_path: Path) -> None:
    accounts = {f"FOREBAY_{name.upper()}": url for name, url in login_urls(dsn, PASSWORDS).items()}
    secrets = {
        "forebay-database": {"FOREBAY_DATABASE_URL": dsn, **accounts},
        "app-database": {"FOREBAY_DATABASE_URL": dsn},
        "forebay-settings": _SETTINGS,
        "forebay-broker": {"dispatcher": broker, "runner": broker},
    }
    with started(of_chart(values, secrets), tmp_path) as running:
        addresses = running.addresses
        for scaled in of_kind(render(values), "ScaledObject"):
            url = urlsplit(scaled["spec"]["triggers"][0]["metadata"]["url"])
            demand = f"{addresses['forebay-api']}{url.path}?{url.query}"
            until(lambda: ask(demand).status_code == 200, lambda: ask(demand).text)  # noqa: B023 - called at once
            assert ask(demand).json()["slots"] == 0
        for monitor in of_kind(render(values), "ServiceMonitor"):
            path = monitor["spec"]["endpoints"][0]["path"]
            assert "forebay_queue_demand_slots" in ask(addresses["forebay-api"] + path).text
        if of_command("runner", running):
            goes_through_the_fleet(dsn, running, "scans", "text", "embed")


def test_what_the_compose_file_starts(bare_dsn: str, broker: str, tmp_path: Path) -> None:
    """On an empty database, which `migrate` fills first."""
    given = {"POSTGRES_PASSWORD": "secret", "NATS_PASSWORD": "secret", **_SETTINGS}
    services = compose(given)
    account = services["postgres"]["environment"]
    url = "postgresql://{POSTGRES_USER}:{POSTGRES_PASSWORD}@postgres/{POSTGRES_DB}".format(**account)
    programs = list(of_compose(given))
    for each in programs:
        assert set(each.after) <= set(services), each.name
        if each.command != "runner":
            assert each.variables["FOREBAY_DATABASE_URL"] == url, each.name
            each.variables["FOREBAY_DATABASE_URL"] = bare_dsn
        if "FOREBAY_BROKER_URL" in each.variables:
            assert each.variables["FOREBAY_BROKER_URL"] == "nats://forebay:secret@nats:4222", each.name
            each.variables["FOREBAY_BROKER_URL"] = broker
    with started(programs, tmp_path) as running:
        goes_through_the_fleet(bare_dsn, running, "texts", "count")


def test_what_the_units_start(dsn: str, broker: str, tmp_path: Path) -> None:
    """With the examples of settings."""
    files = {f"/etc/forebay/{file.name}": variables_in(file) for file in (OPS / "systemd").glob("*.env")}
    assert not [name for name in files["/etc/forebay/runner.env"] if "DATABASE" in name]
    files["/etc/forebay/forebay.env"]["FOREBAY_DATABASE_URL"] = dsn
    if "dispatch" in _OWN_COMMANDS:
        for variables in files.values():
            variables["FOREBAY_BROKER_URL"] = broker
    with started(of_units(files), tmp_path) as running:
        goes_through_the_fleet(dsn, running, "notes", "size")


def variables_in(file: Path) -> dict[str, str]:
    """The variables of a file for systemd."""
    lines = file.read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def ask(url: str) -> httpx.Response:
    """An answer, as collectors get it."""
    return httpx.get(url, headers={"authorization": f"Bearer {TOKEN}"}, trust_env=False, timeout=30)


@dataclass(frozen=True)
class Running:
    """Programs that run, and the addresses of those that listen, by name."""

    processes: list[tuple[Program, Process]]
    addresses: dict[str, str]


def of_command(command: str, running: Running) -> list[Process]:
    return [process for each, process in running.processes if each.command == command]


def goes_through_the_fleet(dsn: str, running: Running, pipeline: str, *steps: str) -> None:
    """A task of each step is done by a runner: nobody else is there."""
    for worker in of_command("worker", running):
        worker.signal(signal.SIGTERM)
        assert worker.ends() == 0, worker.said
    with psycopg.connect(dsn, autocommit=True) as conn:
        item = json.dumps({"title": "A note", "body": "Some words."})
        conn.execute("select forebay.submit(%s, %s::jsonb)", (pipeline, item))
    for step in steps:
        done = "select count(*) from forebay.attempts where pipeline = %s and step = %s and outcome = 'DONE'"
        until(
            lambda: _run.ask(dsn, done, pipeline, step) == 1,  # noqa: B023 - called at once
            lambda: "\n".join(process.said for _, process in running.processes),
        )


@contextmanager
def started(programs: Iterable[Program], folder: Path) -> Iterator[Running]:
    """Starts the programs: migrations, which end, and then all others at the same time. Lends those that run; asks
    their probes; stops all."""
    ours = [each for each in programs if each.command in _OWN_COMMANDS]
    first = [each for each in ours if each.command == "migrate"]
    with ExitStack() as stack:
        for each in first:
            migrating = start(each, folder, stack)
            assert migrating.ends() == 0, migrating.said
        running = [(each, start(each, folder, stack)) for each in ours if each not in first]
        addresses: dict[str, str] = {}
        for each, process in running:
            process.says(_READY[each.command])
            if each.command != "api":
                assert each.grace >= float(each.variables.get("FOREBAY_GRACE_S", "20")) + 40, each.name
            else:
                (port,) = re.findall(r'"address": "http://[^"]+:(\d+)"', process.said)
                addresses[each.name] = f"http://127.0.0.1:{port}"
                check(each, addresses[each.name])
        yield Running(running, addresses)
        for _, process in running:
            process.signal(signal.SIGTERM)
        for each, process in running:
            assert process.ends() == 0, f"{each.name}: {process.said}"


def start(each: Program, folder: Path, stack: ExitStack) -> Process:
    """Start a program with the variables that it is given, and nothing else."""
    own = folder / each.name
    for place in ("/app", *each.folders):
        Path(f"{own}{place}").mkdir(parents=True, exist_ok=True)
    (own / "app" / "__init__.py").write_text(Path(application.__file__).read_text("utf-8"))
    (own / "app" / "pipelines.py").write_text("from app import notes, scans\n")
    process = Process(Cli(own), each.args, _variables(each, own), Forked)
    stack.callback(process.kill)
    return process


def _variables(each: Program, own: Path) -> dict[str, str]:
    """Its variables on this machine: its folders are elsewhere, its port is a free one, and one process is enough."""
    given = {"PATH": os.environ["PATH"], "FOREBAY_API_PORT": "0", "FOREBAY_PROCESSES": "1"}
    for name, value in each.variables.items():
        assert not name.startswith("FOREBAY_") or name in _KNOWN, f"{each.name}: {name} is no setting"
        if value.startswith("/"):
            folder = os.path.dirname(value)  # noqa: PTH120 - of another machine
            assert value in each.folders or folder in each.files, f"{each.name}: {name} is not mounted"
            if value in each.folders:  # what is only read is there for another machine
                given[name] = f"{own}{value}"
        else:
            given.setdefault(name, value)
    return given


def check(each: Program, address: str) -> None:
    """Its probes, and the command that asks after it, say that it is well."""
    for path in each.probes:
        answer = ask(f"{address}{path}")
        assert answer.status_code == 200, f"{each.name}: {path}: {answer.text}"
    if each.check:
        how, *command = each.check
        assert (how, command[0]) == ("CMD", "python")
        code = command[2].replace("http://127.0.0.1:8080", address)
        assert address in code
        subprocess.run([sys.executable, command[1], code], check=True)
