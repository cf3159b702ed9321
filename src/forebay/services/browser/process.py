"""One running Chromium behind its guard: in its own network, under its own account, with an end to its memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import ConfigError, TransientError
from forebay.log import get_logger
from forebay.services.browser.flags import arguments
from forebay.services.browser.wire import BrowserGone, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.services.egress import Egress
    from forebay.settings import Settings

log = get_logger("browser")

_GUARD = Path(__file__).parents[2] / "guard.py"
_ACCOUNTS = ("forebay", "nobody")
_TAIL = 8192
_STARTS_WITHIN = 30.0
_ENDS_WITHIN = 10.0


def account() -> tuple[int, int] | None:
    """Whom root runs the browser as; None is the caller."""
    if os.geteuid() != 0:
        return None
    for name in _ACCOUNTS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    return None


class BrowserProcess:
    """One Chromium; ends when it is told to, with this process, or when it takes too much memory."""

    def __init__(self, settings: Settings, egress: Egress, program: str, *, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.captures = 0
        self.running = 0
        self.version = ""
        self.user_agent = ""
        self.how = ""
        self.ended = asyncio.Event()
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        """By context: what happens to all targets in it."""
        self._settings, self._egress, self._program = settings, egress, program
        self._output = b""
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when it answers.

        Raises:
            TransientError: it does not start; `ConfigError` when that is how it is installed.
        """
        self.started_at = asyncio.get_running_loop().time()
        data = self._spawn()
        loop = asyncio.get_running_loop()
        _, self.wire = await loop.create_unix_connection(Wire, sock=data)
        self._watching = loop.create_task(self._watch())
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                told = await self.wire.call("Browser.getVersion")
                self.wire.listen("", self._hear)
                # Everything that opens waits until it is looked at: a popup is closed before it has loaded anything.
                await self.wire.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        except (BrowserGone, TimeoutError) as error:
            await self.kill()
            raise self._not_started(error) from None
        self.version = told["product"].partition("/")[2]
        self.user_agent = told["userAgent"].replace("Headless", "")
        log.info("browser_started", version=self.version, sandboxed=self.sandboxed, confined=self._egress.is_confining)

    @property
    def is_open(self) -> bool:
        return not self.ended.is_set() and self.wire.is_open

    def begin(self) -> None:
        self.captures, self.running = self.captures + 1, self.running + 1
        self._order(b"r")

    def end(self) -> None:
        self.running -= 1
        if self.running == 0:
            self._order(b"i")

    async def kill(self) -> None:
        """End it and all that it started; returns when they are gone."""
        if self._watching is None:
            return
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(_ENDS_WITHIN):
                await self.ended.wait()
        except TimeoutError:
            log.warning("browser_stuck", guard=self._guard.pid)
            _kill_session(self._guard.pid)
            await self.ended.wait()

    def why_gone(self) -> str:
        """Words for its end, for those who were using it."""
        if self.how == "memory":
            return f"the browser used more than {self._settings.browser_memory_mb} MB and was stopped"
        return "the browser has ended unexpectedly"

    def _spawn(self) -> socket.socket:
        user = account()
        folder = Path(tempfile.mkdtemp(prefix="forebay-browser-"))
        if user is not None:
            os.chown(folder, *user)
        with self._egress.admit("browser") as own:  # only for the proxy's address; nothing is let out with it
            proxy = (own.host, own.port)
        argv = [
            self._program,
            *arguments(folder, proxy, sandboxed=self.sandboxed, extra=self._settings.browser_args),
        ]
        self._control, guards_control = socket.socketpair()
        data, browsers_data = socket.socketpair()
        self._output_fd, output = os.pipe()
        os.set_blocking(self._output_fd, False)
        handed = (guards_control.fileno(), browsers_data.fileno())
        guard = [sys.executable, "-I", "-S", str(_GUARD), str(handed[0]), str(os.getpid())]
        guard += [str(self._settings.browser_memory_mb), "become", str(handed[1]), str(folder)]
        try:
            self._guard = subprocess.Popen(
                [*guard, *self._egress.confined(argv, user)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=handed,
                start_new_session=True,
                cwd="/",
                env=_environment(folder),
            )
        finally:
            guards_control.close()
            browsers_data.close()
            os.close(output)
        self._control.setblocking(False)
        asyncio.get_running_loop().add_reader(self._output_fd, self._read_output)
        self._order(b"r")
        return data

    def _order(self, what: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(what)

    async def _watch(self) -> None:
        """Wait for the guard's last word, then clean up."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            self.how = (await loop.sock_recv(self._control, 64)).decode().strip()
        if not self.how:
            _kill_session(self._guard.pid)
        while self._guard.poll() is None:  # noqa: ASYNC110 - on its way out; the same on every event loop
            await asyncio.sleep(0.001)
        loop.remove_reader(self._output_fd)
        self._read_output()
        os.close(self._output_fd)
        self._control.close()
        self.wire.close()
        log.info("browser_ended", how=self.how, captures=self.captures)
        self.ended.set()

    def _read_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            read = os.read(self._output_fd, 1 << 16)
            if not read:
                asyncio.get_running_loop().remove_reader(self._output_fd)
            self._output = (self._output + read)[-_TAIL:]

    @property
    def said(self) -> str:
        """The last words of its output."""
        return self._output.decode(errors="replace").strip()

    def _not_started(self, error: BaseException) -> TransientError | ConfigError:
        last = self.said.rpartition("\n")[2][-300:]
        if isinstance(error, TimeoutError):
            return TransientError(f"the browser did not start within {_STARTS_WITHIN:g} s: {last}")
        return ConfigError(f"the browser at {self._program} does not start ({self.how}): {last}")

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        """Pass on what the browser says about targets and downloads to those whose they are."""
        if method == "Target.attachedToTarget":
            info = params["targetInfo"]
            listener = self.listeners.get(info.get("browserContextId", ""))
            if listener is None:  # of nobody, as the first empty page
                self.wire.tell("Runtime.runIfWaitingForDebugger", params["sessionId"])
            else:
                listener(method, params)
        elif method.startswith("Browser.download"):
            for listener in tuple(self.listeners.values()):
                listener(method, params)


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours: settings are full of secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "TZ", "FONTCONFIG_PATH") if name in os.environ}
    return kept | {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}


def _kill_session(sid: int) -> None:
    """Kill what a guard did not, and the guard; it is not reaped yet, so that its number is not reused."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_bytes().rpartition(b")")[2].split()[3]) == sid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
