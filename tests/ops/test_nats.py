"""The configuration of NATS: three servers with TLS find each other; their users may do what they need, and no more."""

# demands: S1-118

from __future__ import annotations

import asyncio
import os
import subprocess
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import asyncpg
import nats
import nats.errors
import pytest
import trustme
from structlog.testing import capture_logs

from forebay import Context, Pipeline
from forebay.engine.submit.results import wait
from forebay.fleet.jetstream import JetStreamDispatcher, JetStreamRunner
from forebay.fleet.port import BrokerUnavailable, InputRequest, Report, TaskEnd, TaskInput
from tests.fleet._pipelines import Gate
from tests.fleet._setups import Fleet
from tests.ops._chart import free_ports, program
from tests.ops._prometheus import OPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nats.aio.client import Client

CONFIG = OPS / "nats" / "nats.conf"
NAMES = ("nats1", "nats2", "nats3")
_PASSWORDS = {f"NATS_{user.upper()}_PASSWORD": f"the-{user}" for user in ("dispatcher", "runner", "admin")}


@contextmanager
def cluster(folder: Path, authority: trustme.CA) -> Iterator[list[str]]:
    """The three servers, on ports of this machine. Lends their addresses."""
    own = authority.issue_cert("localhost", "127.0.0.1")
    own.private_key_pem.write_to_path(folder / "tls.key")
    own.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    ports = dict(zip([(name, kind) for name in NAMES for kind in ("4222", "6222", "8222")], free_ports(9), strict=True))
    with ExitStack() as stack:
        for name in NAMES:
            command = [program("nats-server"), "-c", str(_config(name, folder, ports))]
            variables = {**os.environ, **_PASSWORDS, "NATS_NAME": name}
            subprocess.run([*command, "-t"], env=variables, check=True, capture_output=True)
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield [f"tls://127.0.0.1:{ports[name, '4222']}" for name in NAMES]


def _config(name: str, folder: Path, ports: dict[tuple[str, str], int]) -> Path:
    """Our file, with the folders and ports of this machine."""
    text = CONFIG.read_text("utf-8")
    changes = {f"nats-route://{each}:6222": f"nats-route://127.0.0.1:{ports[each, '6222']}" for each in NAMES}
    changes |= {f"{host}:{port}": f"127.0.0.1:{ports[name, port]}"
                for host, port in (("0.0.0.0", "4222"), ("0.0.0.0", "6222"), ("127.0.0.1", "8222"))}  # fmt: skip
    changes |= {'"/data"': f'"{folder}/{name}"', "/etc/nats/tls": str(folder)}
    for ours, theirs in changes.items():
        assert ours in text, ours
        text = text.replace(ours, theirs)
    file = folder / f"{name}.conf"
    file.write_text(text, "utf-8")
    return file


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """The one that this process trusts, as pods do with SSL_CERT_FILE."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "ca.crt")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.crt"))
    return made


async def test_three_servers_and_a_fleet_with_the_rights_of_its_users(
    dsn: str, tmp_path: Path, authority: trustme.CA
) -> None:
    """Large inputs and results, cancellation, the reports of a dispatcher that is dead; and what a runner may not."""
    with cluster(tmp_path, authority) as servers, capture_logs() as logs:
        dispatcher, runner = url(servers, "dispatcher"), url(servers, "runner")
        await until_ready(dispatcher)
        fleet = Fleet(partial(JetStreamDispatcher, dispatcher), partial(JetStreamRunner, runner))
        await _use(fleet, dsn)
        await _adopt(fleet)
        assert _warnings(logs) == []
        refused: list[str] = []
        client = await _connected(servers, "runner", refused)
        try:
            await _overstep(client, refused)
        finally:
            await client.close()
        with pytest.raises(nats.errors.Error, match="Authorization Violation"):
            await nats.connect(servers, user="runner", password="wrong", allow_reconnect=False)
        await _take_with_another_prefix(f"{runner}/shop", logs)


def url(servers: list[str], user: str) -> str:
    """FOREBAY_BROKER_URL of a user."""
    return f"tls://{user}:the-{user}@" + ",".join(each.removeprefix("tls://") for each in servers)


async def until_ready(dispatcher: str) -> None:
    """Wait until the servers have agreed on a leader, and the streams are there."""
    async with asyncio.timeout(90):
        while True:
            port = JetStreamDispatcher(dispatcher)
            try:
                await port.open("first", [], _no_input)
            except BrokerUnavailable:
                await asyncio.sleep(0.1)
            else:
                await port.close()
                return


async def _no_input(_: InputRequest) -> TaskInput | None:
    return None


async def _use(fleet: Fleet, dsn: str) -> None:
    """What a dispatcher and a runner do for tasks."""
    gate = Gate()
    large: Pipeline[dict[str, Any]] = Pipeline("large", dict)

    @large.step()
    async def twice(ctx: Context, value: dict[str, Any]) -> str:
        return str(value["text"]) * 2

    conn = await asyncpg.connect(dsn)
    try:
        async with fleet.working(dsn, gate.pipeline, large):
            jobs = [await gate.pipeline.submit(conn, {"n": n}) for n in range(2)]
            assert {await gate.begun() for _ in jobs} == {0, 1}
            await conn.execute("select forebay.cancel($1)", jobs[0].job_id)
            async with asyncio.timeout(60):
                while gate.cancelled != [0]:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            gate.let_go()
            text = "x" * 800_000
            job = await large.submit(conn, {"text": text})
            assert (await wait(dsn, job.job_id, timeout=60)).done == 1
            assert (await wait(dsn, jobs[1].job_id, timeout=60)).done == 1
            query = "select length(result ->> 'twice') from forebay.items where job_id = $1"
            assert await conn.fetchval(query, job.job_id) == 2 * len(text)
    finally:
        await conn.close()


async def _adopt(fleet: Fleet) -> None:
    """A dispatcher reads the reports of another one."""
    runner, dispatcher = fleet.runner_port(), fleet.dispatcher_port()
    report = Report("an offer", "the dead one", "r", (TaskEnd(1, 1, 0.5, {"kind": "done"}),))
    await runner.open("r", [])
    await dispatcher.open("the survivor", [], _no_input)
    try:
        await runner.report([report])
        await dispatcher.adopt("the dead one")
        async with asyncio.timeout(60):
            assert await anext(dispatcher.reports()) == [report]
        info: Any = await dispatcher._js.stream_info("forebay-report")  # type: ignore[attr-defined]
        assert info.config.num_replicas == 3
    finally:
        await runner.close()
        await dispatcher.close()


async def _take_with_another_prefix(runner: str, logs: Sequence[Mapping[str, Any]]) -> None:
    """The log tells of names that the file does not know."""
    port = JetStreamRunner(runner)
    await port.open("r", ["p"])
    taking = asyncio.create_task(port.take("p", 1))
    try:
        async with asyncio.timeout(30):
            while len(said := _warnings(logs)) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        taking.cancel()
        await port.close()
    assert 'subscription to "shop.tell.r"' in said[0]
    assert '"$js.api.consumer.msg.next.shop-offer.p"' in said[1]


def _warnings(logs: Sequence[Mapping[str, Any]]) -> list[str]:
    refused = [each for each in logs if each["event"] == "broker_refused"]
    assert {each["log_level"] for each in refused} <= {"warning"}
    return [each["reason"] for each in refused]


async def _connected(servers: list[str], user: str, refused: list[str]) -> Client:
    """A client with the user's rights; `refused` gets what the server says that it may not."""

    async def on_error(error: Exception) -> None:
        refused.append(str(error).lower())

    return await nats.connect(servers, user=user, password=f"the-{user}", allow_reconnect=False, error_cb=on_error)


async def _overstep(client: Client, refused: list[str]) -> None:
    """A runner does what it has no right to."""
    for subject in _FORBIDDEN:
        await client.publish(subject, b"")
    for subject in ("forebay.report.>", "forebay.beat", "forebay.input.>"):
        await client.subscribe(subject)
    async with asyncio.timeout(30):
        while len(refused) < len(_FORBIDDEN) + 3:  # the client tells of them in tasks of its own
            await client.flush()
    said = "\n".join(refused)
    for subject in _FORBIDDEN:
        assert f'permissions violation for publish to "{subject}"'.lower() in said, said
    assert said.count("permissions violation for subscription to") == 3, said


_FORBIDDEN = (
    "forebay.offer.p",
    "forebay.tell.r",
    "$JS.API.STREAM.PURGE.forebay-report",
    "$JS.API.STREAM.DELETE.forebay-offer",
    "$JS.API.STREAM.MSG.GET.forebay-report",
    "$JS.API.CONSUMER.MSG.NEXT.forebay-report.d",
)
