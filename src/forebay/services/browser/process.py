"""A running Chromium in a sandbox, with limited network and memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from forebay.errors import ConfigError, TransientError
from forebay.log import get_logger
from forebay.runner.availability import check_network, hides_proc, sandbox_for
from forebay.runner.process import HOME, GuardedCommand, GuardedProcess
from forebay.runner.spec import ResourceLimits
from forebay.services.browser.command_line import arguments
from forebay.services.browser.devtools import BrowserGone, DevToolsConnection

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.runner.spec import Sandbox
    from forebay.services.egress import Egress
    from forebay.settings import Settings

log = get_logger("browser")

_STARTS_WITHIN = 30.0
_SCRATCH_MB = 1024  # its profile, and shared memory
_PROCESSES, _OPEN_FILES = 4096, 8192


class BrowserProcess:
    """A Chromium; ends on request, with this process, or when it uses too much memory."""

    def __init__(self, settings: Settings, egress: Egress, program: str, *, sandboxed: bool) -> None:
        self.sandboxed = sandboxed
        self.captures = 0
        self.running = 0
        self.is_retired = False
        self.version = ""
        self.user_agent = ""
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        """Handlers of events, by browser context."""
        self._settings, self._egress, self._program = settings, egress, program
        self._process: GuardedProcess | None = None
        self._ending: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when it answers.

        Raises:
            TransientError: it does not start; ConfigError when the installation is the cause.
        """
        loop = asyncio.get_running_loop()
        self.started_at = loop.time()
        mode = self._settings.sandbox or "required"  # it runs untrusted content
        found = await asyncio.to_thread(sandbox_for, mode, "Chromium", scratch_mb=_SCRATCH_MB, programs=[self._program])
        if found is not None:
            check_network(mode, "Chromium", self._egress.network(walled=found.is_isolated))
        try:
            async with asyncio.timeout(_STARTS_WITHIN):
                told = await self._begin(found)
        except BaseException as error:
            await asyncio.shield(self.kill())  # also when the capture that needs it is cancelled
            if isinstance(error, BrowserGone | TimeoutError):
                raise self._not_started(error) from None
            raise
        self._ending = loop.create_task(self._close_connection())
        self.version = told["product"].partition("/")[2]
        self.user_agent = told["userAgent"].replace("Headless", "")
        method = None if found is None else found.method
        log.info("browser_started", version=self.version, sandboxed=self.sandboxed, sandbox=method)

    async def _begin(self, sandbox: Sandbox | None) -> dict[str, Any]:
        self._process = process = GuardedProcess(self._command(sandbox))
        process.start()
        process.send_order(b"r")
        loop = asyncio.get_running_loop()
        _, self.devtools = await loop.create_unix_connection(DevToolsConnection, sock=process.sockets[0])
        told = await self.devtools.call("Browser.getVersion")
        self.devtools.listen("", self._hear)
        # New targets wait for the debugger: a popup is closed before it loads anything.
        await self.devtools.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        return told

    def _command(self, sandbox: Sandbox | None) -> GuardedCommand:
        settings = self._settings
        if sandbox is not None:
            sandbox = replace(sandbox, nesting=True, network=self._egress.network(walled=sandbox.is_isolated))
        proxy = (self._egress.host, self._egress.port)
        flags = arguments(PurePosixPath(HOME, "profile"), proxy, sandboxed=self.sandboxed, extra=settings.browser_args)
        return GuardedCommand(
            "chromium",
            ResourceLimits(settings.browser_memory_mb, processes=_PROCESSES, open_files=_OPEN_FILES),
            argv=(self._program, *flags),
            sockets=1,
            doubled=True,
            sandbox=sandbox,
            environment={},
        )

    @property
    def ended(self) -> asyncio.Event:
        return self._guarded.ended

    @property
    def how(self) -> str:
        """How it ended, as the runner reports it."""
        return "" if self._process is None else self._process.end_reason

    @property
    def said(self) -> str:
        """The end of its output."""
        return "" if self._process is None else self._process.output

    @property
    def _guarded(self) -> GuardedProcess:
        if self._process is None:
            raise RuntimeError("the browser was not started")
        return self._process

    @property
    def is_open(self) -> bool:
        return not self.ended.is_set() and self.devtools.is_open

    def begin(self) -> None:
        self.captures, self.running = self.captures + 1, self.running + 1
        self._guarded.send_order(b"r")

    def end(self) -> None:
        self.running -= 1
        if self.running == 0:
            self._guarded.send_order(b"i")

    async def kill(self) -> None:
        """End it and all its child processes; returns when they are gone."""
        if self._process is not None:
            await self._process.kill()

    async def _close_connection(self) -> None:
        await self._guarded.ended.wait()
        self.devtools.close()
        log.info("browser_ended", how=self.how, captures=self.captures)

    def why_gone(self) -> str:
        """The reason of its end, for error messages."""
        if self.how == "memory":
            return f"the browser used more than {self._settings.browser_memory_mb} MB and was stopped"
        return "the browser has ended unexpectedly"

    def _not_started(self, error: BaseException) -> TransientError | ConfigError:
        last = self.said.rpartition("\n")[2][-300:]
        if isinstance(error, TimeoutError):
            return TransientError(f"the browser did not start within {_STARTS_WITHIN:g} s: {last}")
        if not last and self._settings.sandbox != "off" and hides_proc():
            return ConfigError(
                "Chromium does not start in a sandbox without /proc, and this container hides parts of /proc: start "
                "the container with all of it (docker run --security-opt systempaths=unconfined), or set "
                "FOREBAY_SANDBOX=off"
            )
        return ConfigError(f"the browser at {self._program} does not start ({self.how}): {last}")

    def _hear(self, method: str, params: dict[str, Any]) -> None:
        """Dispatch events about targets and downloads to their contexts."""
        if method == "Target.attachedToTarget":
            info = params["targetInfo"]
            listener = self.listeners.get(info.get("browserContextId", ""))
            if listener is None:  # without a context, as the first empty page
                self.devtools.tell("Runtime.runIfWaitingForDebugger", params["sessionId"])
            else:
                listener(method, params)
        elif method.startswith("Browser.download"):
            for listener in tuple(self.listeners.values()):
                listener(method, params)
