"""The configuration of NATS: three servers with TLS find each other; their users may do what they need, and no more."""

# demands: S1-118

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import nats
import nats.errors
import nats.js.errors
import pytest
import trustme
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StorageType, StreamConfig

from tests.ops._chart import free_ports, program
from tests.ops._prometheus import OPS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nats.aio.client import Client

CONFIG = OPS / "nats" / "nats.conf"
NAMES = ("nats1", "nats2", "nats3")
_PASSWORDS = {f"NATS_{user.upper()}_PASSWORD": f"the-{user}" for user in ("dispatcher", "runner", "admin")}


@contextmanager
def cluster(folder: Path, authority: trustme.CA) -> Iterator[list[str]]:
    """The three servers, on ports of this machine. Lends their addresses."""
    authority.cert_pem.write_to_path(folder / "ca.crt")
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


async def test_three_servers_and_what_their_users_may_do(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with cluster(tmp_path, authority) as servers:
        refused: dict[str, list[str]] = {"dispatcher": [], "runner": []}
        dispatcher, runner = [await _connected(servers, user, context, told) for user, told in refused.items()]
        try:
            await _dispatch(dispatcher)
            await _run(runner)
            assert refused == {"dispatcher": [], "runner": []}
            await _overstep(runner, refused["runner"])
            jetstream = dispatcher.jetstream(timeout=5)
            assert (await jetstream.stream_info("forebay-report")).state.messages == 1
        finally:
            await dispatcher.close()
            await runner.close()
        with pytest.raises(nats.errors.Error, match="Authorization Violation"):
            await nats.connect(servers, user="runner", password="wrong", tls=context, allow_reconnect=False)


async def _connected(servers: list[str], user: str, context: ssl.SSLContext, refused: list[str]) -> Client:
    """A client with the user's rights; `refused` gets what the server says that it may not."""

    async def on_error(error: Exception) -> None:
        refused.append(str(error).lower())

    options: dict[str, Any] = {"tls": context, "allow_reconnect": False, "error_cb": on_error}
    async with asyncio.timeout(60):
        while True:
            try:
                client = await nats.connect(servers, user=user, password=f"the-{user}", **options)
            except (nats.errors.Error, OSError):  # the servers have just been started
                await asyncio.sleep(0.1)
            else:
                refused.clear()
                return client


async def _dispatch(client: Client) -> None:
    """What a dispatcher does, as soon as the servers have agreed on a leader."""
    jetstream = client.jetstream(timeout=2)
    kept = (("offer", StorageType.MEMORY), ("report", StorageType.FILE))
    async with asyncio.timeout(60):
        for kind, storage in kept:
            config = StreamConfig(
                name=f"forebay-{kind}", subjects=[f"forebay.{kind}.>"], storage=storage, num_replicas=3,
                retention=RetentionPolicy.WORK_QUEUE,
            )  # fmt: skip
            while True:
                try:
                    await jetstream.add_stream(config)
                    break
                except (nats.errors.Error, nats.js.errors.Error):
                    await asyncio.sleep(0.1)
    consumer = ConsumerConfig(durable_name="p", filter_subject="forebay.offer.p", ack_policy=AckPolicy.EXPLICIT)
    await jetstream.add_consumer("forebay-offer", consumer)
    await jetstream.publish("forebay.offer.p", b"an offer")
    await client.publish("forebay.tell.r", b"stop")


async def _run(client: Client) -> None:
    """What a runner does, and what it may not."""
    inbox = client.new_inbox()
    answers = await client.subscribe(inbox)
    await client.publish("$JS.API.CONSUMER.MSG.NEXT.forebay-offer.p", b'{"batch": 1}', reply=inbox)
    offer = await answers.next_msg(timeout=30)
    assert offer.data == b"an offer"
    await client.publish(offer.reply, b"+ACK")
    jetstream = client.jetstream(timeout=5)
    await jetstream.publish("forebay.report.d", b"a report")


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
