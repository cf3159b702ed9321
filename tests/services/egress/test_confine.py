"""Children have no way out but the proxy, where the kernel allows that; elsewhere they are told to use it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError
from forebay.services.egress import Egress, Grant, confinement
from forebay.services.egress.confinement import why_not_confined
from forebay.services.egress.folders import PrivateFolder
from tests.services.egress._world import Names, answering, hearing, reply, until
from tests.services.egress.conftest import Opened

INSIDE = Path(__file__).with_name("_inside.py")
LAUNCHER = Path(confinement.__file__).with_name("confine.py")
BECAUSE = why_not_confined()
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = (65534, 65534)
HINT = "FOREBAY_EGRESS_ALLOW_NETWORKS allows networks of your own"

confining = pytest.mark.skipif(BECAUSE is not None, reason=f"this machine cannot confine children: {BECAUSE}")
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
as_root = pytest.mark.skipif(
    os.geteuid() != 0 or not Path(SYSTEM_PYTHON).exists() or shutil.which("setpriv") is None,
    reason="only root can become somebody else, who needs a Python that all may read",
)
both = pytest.mark.parametrize("confine", [pytest.param(True, marks=confining, id="namespace"), False])


async def run(argv: list[str], env: dict[str, str] | None = None, **options: Any) -> tuple[int, str, str]:
    child = await asyncio.create_subprocess_exec(
        *argv, env=os.environ | (env or {}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )
    out, err = await child.communicate()
    return child.returncode or 0, out.decode(), err.decode()


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


@pytest.fixture
def readable() -> Iterator[Callable[[Path], str]]:
    """Copies scripts to where everybody can read them, wherever the tree is."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)

        def copy(script: Path) -> str:
            copied = Path(shutil.copy(script, folder))
            copied.chmod(0o644)
            return str(copied)

        yield copy


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
                url: await run(egress.confined([*curl, url]), grant.environment)
                for url in (
                    f"http://good.test:{site.port}/",
                    "http://bad.test/",
                    "http://[::ffff:10.0.0.1]/",
                    "http://169.254.169.254/latest/meta-data/",
                    "https://bad.test/",
                )
            }
            rebinding = egress.confined([*curl, f"http://rebind.test:{site.port}/"])
            assert (await run(rebinding, grant.environment))[1] == "hello 200"
            rebound = await run(rebinding, grant.environment)
            moved = reply("", "302 Found", Location="http://bad.test/")
            async with answering(moved) as other:
                follow = [*curl, "-L", f"http://good.test:{other.port}/"]
                redirected = await run(egress.confined(follow), grant.environment)
            refused = [refusal.host for refusal in grant.refusals]
    assert told[f"http://good.test:{site.port}/"] == (0, "hello 200", "")
    assert told["http://bad.test/"][1] == f"bad.test is at no public address; {HINT}\n 403"
    assert told["http://[::ffff:10.0.0.1]/"][1] == f"10.0.0.1 is private; {HINT}\n 403"
    assert told["http://169.254.169.254/latest/meta-data/"][1].endswith(f"metadata; {HINT}\n 403")
    assert told["https://bad.test/"][0] != 0
    assert rebound[1] == f"rebind.test is at no public address; {HINT}\n 403"
    assert redirected[1] == f"bad.test is at no public address; {HINT}\n 403"
    assert refused == ["bad.test", "10.0.0.1", "169.254.169.254", "bad.test", "rebind.test", "bad.test"]
    heard = [log for log in logs if log["event"] == "egress_refused"]
    assert [log["host"] for log in heard] == refused
    assert {log["purpose"] for log in heard} == {"media.download"}


@confining
async def test_there_is_no_other_way(opened: Opened) -> None:
    async with services() as places, opened(egress_confine=True) as egress:
        inside = [sys.executable, str(INSIDE), *places]
        _, free, _ = await run([*inside, "near"])
        code, out, err = await run(egress.confined([*inside, "far"]))
    assert code == 0, err
    reachable = {"loopback", "loopback6", "udp", "abstract"}
    assert {way for way in reachable if json.loads(free)["tried"][way].startswith("reached")} == reachable
    found = json.loads(out)
    assert found["tried"].pop("interfaces") == "['lo']"
    assert not [way for way, came in found["tried"].items() if came.startswith("reached")]
    facts = found["facts"]
    assert facts["NoNewPrivs"] == "1"
    assert int(facts["CapEff"], 16) & ~0xFF == int(facts["CapBnd"], 16) & ~0xFF == 0
    assert int(facts["CapInh"], 16) == int(facts["CapAmb"], 16) == 0
    assert (found["uid"], found["gid"]) == (os.getuid(), os.getgid())


async def test_without_a_namespace_it_is_sealed_all_the_same(egress: Egress) -> None:
    async with services() as places:
        code, out, err = await run(egress.confined([sys.executable, str(INSIDE), *places, "near"]))
    assert code == 0, err
    found = json.loads(out)
    assert found["facts"]["NoNewPrivs"] == "1"
    assert not found["tried"]["vsock"].startswith("reached")


@as_root
@confining
@pytest.mark.parametrize("user", [None, NOBODY])
async def test_services_in_the_file_system_are_hidden(
    opened: Opened, user: tuple[int, int] | None, readable: Callable[[Path], str]
) -> None:
    """Some of them resolve names, some start programs."""
    with tempfile.TemporaryDirectory(dir="/run") as folder, tempfile.TemporaryDirectory(dir="/run") as needed:
        _open_to_all(folder)
        paths = [f"{folder}/socket", f"{folder}.socket"]
        async with services(*paths) as places, opened(egress_confine=True) as egress:
            script = readable(INSIDE)
            inside = [SYSTEM_PYTHON, script, *places, "near"]
            _, free, _ = await run([*inside, *paths], cwd="/")
            # Arguments name what a program needs; these are no services.
            asked = ["sh", "-c", f'exec "$@" {" ".join(paths)}', "sh", *inside, needed]
            _, out, err = await run(egress.confined(asked, user), cwd="/")
            _, kept, _ = await run(egress.confined(["ls", "-d", needed], user))
            _, mounts, _ = await run(["cat", "/proc/self/mounts"])
    assert all(json.loads(free)["tried"][path] == "reached: b'hello'" for path in paths)
    assert out, err
    tried = json.loads(out)["tried"]
    assert {tried[path] for path in paths} <= {"FileNotFoundError", "ConnectionRefusedError", "PermissionError"}
    assert kept == f"{needed}\n"
    assert folder not in mounts  # nobody else sees any of it


@as_root
@confining
async def test_root_may_ask_for_another_user(opened: Opened) -> None:
    async with answering(reply("hello")) as site, opened(egress_confine=True) as egress:
        with egress.grant("test") as grant:
            script = (
                "import os, urllib.request as u; print(os.getresuid(), os.getresgid(), os.getgroups(), "
                f"u.urlopen('http://good.test:{site.port}/').read())"
            )
            argv = egress.confined([SYSTEM_PYTHON, "-c", script], NOBODY)
            code, out, err = await run(argv, grant.environment, cwd="/")
    assert (code, out) == (0, f"{(65534,) * 3} {(65534,) * 3} [] b'hello'\n"), err


@as_root
@confining
async def test_a_worker_that_is_not_root(opened: Opened, readable: Callable[[Path], str]) -> None:
    """The launcher as an account without rights has it, against the real proxy."""
    async with services() as places, answering(reply("hello")) as site, opened(egress_confine=True) as egress:
        argv = egress.confined([SYSTEM_PYTHON, readable(INSIDE), *places, "far"])
        fetch = f"import urllib.request as u; print(u.urlopen('http://good.test:{site.port}/').read())"
        folder = Path(argv[argv.index("--handover") + 1]).parent
        folder.chmod(0o711)
        (folder / "handover").chmod(0o666)
        argv[0], argv[3] = SYSTEM_PYTHON, readable(LAUNCHER)
        became: dict[str, Any] = {"user": NOBODY[0], "group": NOBODY[1], "extra_groups": [], "cwd": "/"}
        code, out, err = await run(argv, **became)
        with egress.grant("test") as grant:
            fetching = [*argv[: argv.index("--") + 1], SYSTEM_PYTHON, "-c", fetch]
            fetched = await run(fetching, grant.environment, **became)
    assert code == 0, err
    found = json.loads(out)
    found["tried"].pop("interfaces")
    assert not [way for way, came in found["tried"].items() if came.startswith("reached")]
    assert (found["uid"], int(found["facts"]["CapEff"], 16)) == (65534, 0)
    assert fetched == (0, "b'hello'\n", "")


# How it is started, and how it ends.


@both
async def test_signals_are_as_programs_expect_them(opened: Opened, confine: bool) -> None:
    async with opened(egress_confine=confine) as egress:
        _, out, _ = await run(egress.confined(["grep", "SigIgn", "/proc/self/status"]))
    ignored = int(out.split()[1], 16)
    assert not [number.name for number in (signal.SIGPIPE, signal.SIGXFSZ) if ignored >> (number - 1) & 1]


@confining
async def test_a_namespace_goes_with_its_child(opened: Opened) -> None:
    async with opened(egress_confine=True) as egress:
        children = [
            await asyncio.create_subprocess_exec(
                *egress.confined(["sh", "-c", "echo here; read x"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for _ in range(3)
        ]
        for child in children:
            assert child.stdout is not None
            assert await child.stdout.readline() == b"here\n"
        assert egress.describe()["children"] == 3
        before = _descriptors()
        for child in children:
            await child.communicate(b"\n")
        await until(lambda: egress.describe()["children"] == 0)
        assert _descriptors() < before


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@both
async def test_a_child_dies_with_its_parent(opened: Opened, confine: bool) -> None:
    async with opened(egress_confine=confine) as egress:
        starts = f"import subprocess, sys; subprocess.run({egress.confined(['sh', '-c', 'echo $$; read x'])!r})"
        parent = await asyncio.create_subprocess_exec(
            sys.executable, "-c", starts, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert parent.stdout is not None
        assert parent.stdin is not None
        pidfd = os.pidfd_open(int(await parent.stdout.readline()))
        parent.kill()
        await parent.wait()
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(pidfd, ended.set)
        await ended.wait()
        asyncio.get_running_loop().remove_reader(pidfd)
        os.close(pidfd)
        parent.stdin.close()


@both
async def test_a_program_that_does_not_start(opened: Opened, confine: bool) -> None:
    async with opened(egress_confine=confine) as egress:
        assert await run(egress.confined(["/absent"])) == (127, "", "confine: /absent: No such file or directory\n")
        assert await run(egress.confined(["/etc/passwd"])) == (126, "", "confine: /etc/passwd: Permission denied\n")
        code, _, err = await run(egress.confined([]))
        assert (code, err.splitlines()[-1]) == (2, "confine: error: give the program to run after --")


@confining
async def test_a_proxy_that_is_gone(opened: Opened) -> None:
    async with opened(egress_confine=True) as egress:
        argv = egress.confined(["true"])
    code, _, err = await run(argv)
    assert (code, err) == (1, "confine: [Errno 2] No such file or directory\n")


@pytest.mark.parametrize(
    ("handed", "words"),
    [
        ("nothing", "the launcher ended before it had handed its socket over"),
        ("a datagram socket", "the launcher handed something over that does not listen"),
        ("another address", "the launcher handed over a socket of another address"),
    ],
)
@confining
async def test_only_listening_sockets_are_taken_over(opened: Opened, handed: str, words: str) -> None:
    async with opened(egress_confine=True) as egress:
        argv = egress.confined(["true"])
        with hearing() as logs, socket.socket(socket.AF_UNIX) as launcher:
            launcher.connect(argv[argv.index("--handover") + 1])
            with contextlib.ExitStack() as stack:
                if handed == "a datagram socket":
                    other = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                    socket.send_fds(launcher, [b"l"], [other.fileno()])
                elif handed == "another address":
                    other = stack.enter_context(socket.create_server(("127.0.0.2", 0)))
                    socket.send_fds(launcher, [b"l"], [other.fileno()])
                else:
                    launcher.shutdown(socket.SHUT_WR)
            await asyncio.get_running_loop().run_in_executor(None, launcher.recv, 1)
        await until(lambda: logs)
    assert [(log["event"], log["error"]) for log in logs][:1] == [("egress_handover_failed", words)]


async def test_a_launcher_that_is_not_answered(tmp_path: Path) -> None:
    """It does not start the program outside, nor inside without a proxy."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "handover"))
        listener.listen()
        argv = [sys.executable, str(LAUNCHER), "--port", "1080", "--handover", str(tmp_path / "handover"), "--", "id"]
        running = asyncio.create_task(run(argv))
        sock, _ = await asyncio.get_running_loop().run_in_executor(None, listener.accept)
        with sock:
            await asyncio.get_running_loop().run_in_executor(None, sock.recv, 1)
        code, out, err = await running
    assert (code, out) == (1, "")
    assert BECAUSE or err == "confine: the egress proxy did not take the socket over\n"


# Kernels that allow less.


@as_root
@confining
async def test_root_without_user_namespaces(opened: Opened) -> None:
    """Then the network namespace alone, and no rights to leave it."""
    none = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"'
    async with services() as places, opened(egress_confine=True) as egress:
        inside = egress.confined([sys.executable, str(INSIDE), *places, "far"])
        code, out, err = await run(["unshare", "--map-root-user", "sh", "-c", none, *inside])
    assert code == 0, err
    found = json.loads(out)
    found["tried"].pop("interfaces")
    assert not [way for way, came in found["tried"].items() if came.startswith("reached")]


@as_root
@confining
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (
            [
                "unshare", "-r", "sh", "-c", "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" \"$@\"",
                "setpriv", "--inh-caps=-all", "--bounding-set=-all",
            ],
            "neither user nor network namespaces for root (unshare: Operation not permitted)",
        ),
        (
            [
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "-r", "sh", "-c",
                'echo 1 > /proc/sys/user/max_user_namespaces; exec unshare --map-user=1000 "$0" "$@"',
            ],
            "no user namespaces for this account (unshare: No space left on device)",
        ),
    ],
)  # fmt: skip
async def test_kernels_that_forbid_it(argv: list[str], words: str, readable: Callable[[Path], str]) -> None:
    code, _, err = await run([*argv, SYSTEM_PYTHON, "-I", "-S", readable(LAUNCHER), "--probe"], cwd="/")
    assert (code, err) == (1, f"confine: {words}\n")


@as_root
async def test_namespaces_without_rights(readable: Callable[[Path], str]) -> None:
    """As AppArmor gives them to unprivileged accounts: they can be entered, and nothing can be done in them."""
    script = f"import runpy; runpy.run_path({readable(LAUNCHER)!r})['_raise_loopback']()"
    became: dict[str, Any] = {"user": NOBODY[0], "group": NOBODY[1], "extra_groups": [], "cwd": "/"}
    _, _, err = await run([SYSTEM_PYTHON, "-c", script], **became)
    assert err.endswith("Forbidden: user namespaces have no rights here (AppArmor restricts them?)\n")


async def test_the_fallback_says_why(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.services.egress.egress.why_not_confined", lambda: "the kernel is too old")
    async with opened(egress_confine=None) as egress:
        assert (egress.is_confining, egress.unconfined_because) == (False, "the kernel is too old")
        assert "--open" in egress.confined(["true"])
    with pytest.raises(
        ConfigError,
        match="children cannot be confined to the egress proxy: the kernel is too old; "
        "allow that, or unset FOREBAY_EGRESS_CONFINE",
    ):
        async with opened(egress_confine=True):
            pass


def test_machines_without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert why_not_confined() == "only Linux has network namespaces"
    monkeypatch.undo()
    monkeypatch.setattr("sys.executable", "/absent")
    assert "No such file or directory: '/absent'" in str(why_not_confined())


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


def test_on_uvloop(tmp_path: Path) -> None:
    """Workers run on it."""
    import uvloop

    async def scenario() -> tuple[tuple[int, str, str], Grant]:
        from forebay.services.egress import open_egress
        from forebay.settings import Settings

        names = Names()
        names.put("good.test", "127.0.0.1")
        settings = Settings(egress_allow_networks="127.0.0.0/8")
        async with answering(reply("x" * 1_000_000)) as site, open_egress(settings, names) as egress:
            with egress.grant("test") as grant:
                tunnel = ["curl", "-sS", "--proxytunnel", f"http://good.test:{site.port}/"]
                return await run(egress.confined(tunnel), grant.environment), grant

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        (code, out, err), grant = runner.run(scenario())
    assert (code, len(out), err) == (0, 1_000_000, "")
    assert grant.bytes_down > 1_000_000
