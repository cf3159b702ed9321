"""Programs have no way out but the proxy, where the kernel allows that; elsewhere they are told to use it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError, TransientError
from forebay.runner.availability import Available, Mode
from forebay.runner.program import Finished, run_program
from forebay.runner.spec import Network
from forebay.services.egress import Egress, Grant, confinement
from forebay.services.egress.confinement import why_not_confined
from forebay.services.egress.folders import PrivateFolder
from tests.services.egress._world import Names, answering, hearing, reply, until
from tests.services.egress.conftest import Opened

INSIDE = Path(__file__).with_name("_inside.py")
BECAUSE = why_not_confined()
PYTHON = "/usr/bin/python3"  # one that the sandbox has
HINT = "FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks"

confining = pytest.mark.skipif(BECAUSE is not None, reason=f"this machine cannot confine programs: {BECAUSE}")
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
needs_python = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"there is no {PYTHON}")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can write to /run")
both = pytest.mark.parametrize("confine", [pytest.param(True, marks=confining, id="namespace"), False])


async def run(egress: Egress, *argv: str, grant: Grant | None = None, **options: Any) -> Finished:
    """Run a program with no network but the proxy, or where that is not enforced, with its environment only."""
    mode: Mode = "required" if egress.is_confining else "preferred"
    environment = {} if grant is None else grant.environment
    return await run_program(argv, mode=mode, network=egress.network(), environment=environment, **options)


async def looked_around(egress: Egress, *arguments: str) -> dict[str, Any]:
    """What a program finds that tries every way out."""
    done = await run(egress, PYTHON, "@INPUTS@/inside.py", *arguments, inputs={"inside.py": INSIDE})
    assert done.status == 0, done.said
    found: dict[str, Any] = json.loads(done.said)
    return found


class Answering(asyncio.DatagramProtocol):
    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        self._transport.sendto(b"hello", addr)


def _open_to_all(*paths: str) -> None:
    for path in paths:
        Path(path).chmod(0o777)


def _remove(*paths: str) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def services(*paths: str) -> AsyncIterator[list[str]]:
    """What a child might reach on this machine: TCP in both families, UDP, Unix sockets."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    name = f"forebay-test-{os.getpid()}"
    listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    loop = asyncio.get_running_loop()
    tcp = await asyncio.start_server(greet, sock=listener)
    unix = [await asyncio.start_unix_server(greet, path) for path in (f"\0{name}", *paths)]
    _open_to_all(*paths)
    udp, _ = await loop.create_datagram_endpoint(Answering, ("127.0.0.1", 0))
    try:
        ports = listener.getsockname()[1], udp.get_extra_info("sockname")[1]
        yield [*map(str, ports), name, str(os.getpid())]
    finally:
        udp.close()
        for server in (tcp, *unix):
            server.close()
            await server.wait_closed()
        _remove(*paths)


# The proxy is the only way, for programs that know it and for programs that do not.


@needs_curl
@both
async def test_curl(opened: Opened, names: Names, confine: bool) -> None:
    names.put("rebind.test", "127.0.0.1", "10.0.0.1")
    async with answering(reply("hello")) as site, opened(egress_confine=confine) as egress:
        assert egress.is_confining is confine
        with egress.grant("media.download") as grant, hearing() as logs:
            curl = ["curl", "-sS", "-o", "-", "-w", " %{http_code}"]
            told = {
                url: await run(egress, *curl, url, grant=grant)
                for url in (
                    f"http://good.test:{site.port}/",
                    "http://bad.test/",
                    "http://[::ffff:10.0.0.1]/",
                    "http://169.254.169.254/latest/meta-data/",
                    "https://bad.test/",
                )
            }
            rebinding = [*curl, f"http://rebind.test:{site.port}/"]
            assert (await run(egress, *rebinding, grant=grant)).said == "hello 200"
            rebound = await run(egress, *rebinding, grant=grant)
            moved = reply("", "302 Found", Location="http://bad.test/")
            async with answering(moved) as other:
                follow = [*curl, "-L", f"http://good.test:{other.port}/"]
                redirected = await run(egress, *follow, grant=grant)
            refused = [refusal.host for refusal in grant.refusals]
    good = told[f"http://good.test:{site.port}/"]
    assert (good.status, good.said) == (0, "hello 200")
    assert told["http://bad.test/"].said == f"bad.test has no public address; {HINT}\n 403"
    assert told["http://[::ffff:10.0.0.1]/"].said == f"10.0.0.1 is private; {HINT}\n 403"
    assert told["http://169.254.169.254/latest/meta-data/"].said.endswith(f"metadata; {HINT}\n 403")
    assert told["https://bad.test/"].status != 0
    assert rebound.said == f"rebind.test has no public address; {HINT}\n 403"
    assert redirected.said == f"bad.test has no public address; {HINT}\n 403"
    assert refused == ["bad.test", "10.0.0.1", "169.254.169.254", "bad.test", "rebind.test", "bad.test"]
    heard = [log for log in logs if log["event"] == "egress_refused"]
    assert [log["host"] for log in heard] == refused
    assert {log["purpose"] for log in heard} == {"media.download"}


@confining
@needs_python
async def test_there_is_no_other_way(opened: Opened) -> None:
    async with services() as places, opened(egress_confine=True) as egress:
        outside = await asyncio.create_subprocess_exec(PYTHON, INSIDE, *places, "near", stdout=subprocess.PIPE)
        free = json.loads((await outside.communicate())[0])["tried"]
        found = (await looked_around(egress, *places, "far"))["tried"]
    reachable = {"loopback", "loopback6", "udp", "abstract"}
    assert {way for way in reachable if free[way].startswith("reached")} == reachable
    assert found.pop("interfaces") == "['lo']"
    assert not [way for way, came in found.items() if came.startswith("reached")]


@as_root
@confining
@needs_python
async def test_services_in_the_file_system_are_hidden(opened: Opened) -> None:
    """Some of them resolve names, some start programs."""
    with tempfile.TemporaryDirectory(dir="/run") as folder:
        _open_to_all(folder)
        paths = [f"{folder}/socket", f"{folder}.socket"]
        async with services(*paths) as places, opened(egress_confine=True) as egress:
            outside = await asyncio.create_subprocess_exec(
                PYTHON, INSIDE, *places, "near", *paths, stdout=subprocess.PIPE
            )
            free = json.loads((await outside.communicate())[0])["tried"]
            found = (await looked_around(egress, *places, "near", *paths))["tried"]
    assert {free[path] for path in paths} == {"reached: b'hello'"}
    assert {found[path] for path in paths} == {"FileNotFoundError"}


@needs_python
async def test_without_a_namespace_system_calls_are_filtered_all_the_same(egress: Egress) -> None:
    async with services() as places:
        found = (await looked_around(egress, *places, "near"))["tried"]
    assert not found["vsock"].startswith("reached")


# How the proxy gets into a namespace, and out of it.


@confining
async def test_a_namespace_goes_with_its_program(opened: Opened) -> None:
    async with opened(egress_confine=True) as egress:
        lines: list[str] = []
        running = [
            asyncio.create_task(run(egress, "sh", "-c", "echo here; exec sleep 600", on_line=lines.append))
            for _ in range(3)
        ]
        await until(lambda: lines == ["here"] * 3)
        assert egress.describe()["children"] == 3
        before = _descriptors()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await until(lambda: egress.describe()["children"] == 0)
        assert _descriptors() < before


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _handover(egress: Egress) -> str:
    network = egress.network()
    assert isinstance(network, Network)
    return network.handover


@confining
async def test_a_proxy_that_is_gone(opened: Opened) -> None:
    async with opened(egress_confine=True) as egress:
        network = egress.network()
    with pytest.raises(TransientError, match="true was lost: its guard ended before it"):
        await run_program(["true"], network=network)


@pytest.mark.parametrize(
    ("handed", "words"),
    [
        ("nothing", "the runner ended before it passed its socket"),
        ("a datagram socket", "the runner passed something that is not a listening socket"),
        ("another address", "the runner passed a socket of another address"),
    ],
)
@confining
async def test_only_listening_sockets_are_taken_over(opened: Opened, handed: str, words: str) -> None:
    async with opened(egress_confine=True) as egress:
        with hearing() as logs, socket.socket(socket.AF_UNIX) as runner:
            runner.connect(_handover(egress))
            with contextlib.ExitStack() as stack:
                if handed == "a datagram socket":
                    other = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                    socket.send_fds(runner, [b"l"], [other.fileno()])
                elif handed == "another address":
                    other = stack.enter_context(socket.create_server(("127.0.0.2", 0)))
                    socket.send_fds(runner, [b"l"], [other.fileno()])
                else:
                    runner.shutdown(socket.SHUT_WR)
            await asyncio.get_running_loop().run_in_executor(None, runner.recv, 1)
        await until(lambda: logs)
    assert [(log["event"], log["error"]) for log in logs][:1] == [("egress_handover_failed", words)]


@confining
async def test_a_proxy_that_does_not_answer(tmp_path: Path) -> None:
    """The program starts neither outside nor inside without a proxy."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "handover"))
        listener.listen()
        running = asyncio.create_task(run_program(["id"], network=Network(str(tmp_path / "handover"), 1080)))
        sock, _ = await asyncio.get_running_loop().run_in_executor(None, listener.accept)
        with sock:
            await asyncio.get_running_loop().run_in_executor(None, sock.recv, 1)
        done = await running
    assert (done.status, done.said.strip()) == (1, "sandbox: the egress proxy did not accept the socket")


# Machines that allow less.


async def test_the_fallback_says_why(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.services.egress.egress.why_not_confined", lambda: "the kernel is too old")
    async with opened(egress_confine=None) as egress:
        assert (egress.is_confining, egress.unconfined_because) == (False, "the kernel is too old")
        assert egress.network() == "host"
    with pytest.raises(
        ConfigError,
        match="programs cannot be confined to the egress proxy: the kernel is too old; "
        "fix it or unset FOREBAY_EGRESS_CONFINE",
    ):
        async with opened(egress_confine=True):
            pass


def test_machines_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "available", lambda: Available(None, "", None, "only Linux has namespaces"))
    assert why_not_confined() == "only Linux has namespaces"


def test_kernels_without_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(confinement, "available", lambda: Available("namespaces", "", None, ""))
    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert why_not_confined() == "pidfd_open: Function not implemented"


def test_what_a_killed_worker_left_behind_is_cleared(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from forebay.services.egress.folders import PrivateFolder; "
    code += "print(PrivateFolder(Path(sys.argv[1])).path, flush=True); os.kill(os.getpid(), 9)"
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    left = Path(killed.stdout.strip())
    assert left.is_dir()
    mine = PrivateFolder(tmp_path)
    assert not left.exists()
    other = PrivateFolder(tmp_path)
    assert set(tmp_path.iterdir()) == {mine.path, other.path}
    assert mine.path.stat().st_mode & 0o777 == 0o700
    for folder in (mine, other):
        folder.close()
    assert not list(tmp_path.iterdir())


@confining
@needs_curl
def test_on_uvloop() -> None:
    """Workers run on it."""
    import uvloop

    async def scenario() -> tuple[Finished, Grant]:
        from forebay.services.egress import open_egress
        from forebay.settings import Settings

        names = Names()
        names.put("good.test", "127.0.0.1")
        settings = Settings(egress_allow_networks="127.0.0.0/8")
        async with answering(reply("x" * 1_000_000)) as site, open_egress(settings, names) as egress:
            with egress.grant("test") as grant:
                url = f"http://good.test:{site.port}/"
                counting = ["curl", "-sS", "--proxytunnel", "-o", "/dev/null", "-w", "%{size_download}", url]
                return await run(egress, *counting, grant=grant), grant

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        done, grant = runner.run(scenario())
    assert (done.status, done.said) == (0, "1000000")
    assert grant.bytes_down > 1_000_000
