"""The browser of a worker: starts Chromium when needed, replaces it regularly, and ends it reliably."""

from __future__ import annotations

import asyncio
import contextlib
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, StepError, TransientError
from forebay.log import get_logger
from forebay.services.browser.capturing import CaptureRequest, Capturing
from forebay.services.browser.devtools import BrowserGone, ProtocolError
from forebay.services.browser.executable import require_browser
from forebay.services.browser.process import BrowserProcess
from forebay.services.browser.tab import MOST_BYTES_DOWN, Tab
from forebay.services.egress import checked_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.services.browser.captures import Capture
    from forebay.services.egress import Egress
    from forebay.settings import Settings

log = get_logger("browser")
_SLACK_S = 5.0  # in addition to the timeout of a capture, for delays of the browser


class Browser:
    """Captures pages with one Chromium, which is started on demand and replaced after a number of captures."""

    def __init__(self, settings: Settings, egress: Egress) -> None:
        self._settings, self._egress = settings, egress
        self._slots = asyncio.Semaphore(settings.browser_concurrency)
        self._starting = asyncio.Lock()
        self._current: BrowserProcess | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._aging: asyncio.TimerHandle | None = None
        # As root, Chromium does not start with its sandbox, unless it runs under another account.
        self._sandboxed = settings.sandbox != "off" or os.geteuid() != 0
        self.started = 0
        self._captures = self._failures = self._running = 0
        self._seconds = 0.0

    async def capture(
        self,
        url: str,
        *,
        viewport: tuple[int, int] = (1280, 800),
        full_page: bool = True,
        timeout: float | None = None,
        purpose: str = "browser",
    ) -> Capture:
        """Capture a page as a visitor without cookies sees it.

        Raises:
            DataError: the URL is invalid.
            PermanentError: it cannot be shown: the SSRF guard refused it, its certificate is invalid …
            TransientError: it may work next time.
            ConfigError: Chromium is missing or does not start.
        """
        wanted = str(checked_url(url))
        request = CaptureRequest(
            wanted, full_page, self._settings.browser_max_height, timeout or self._settings.browser_timeout_s
        )
        async with self._slots, self._counted():
            process = await self._ready()
            process.begin()
            try:
                return await self._captured(process, request, viewport, purpose)
            finally:
                process.end()
                self._retire_if_due(process)

    def describe(self) -> dict[str, float]:
        """State for metrics."""
        return {
            "captures": self._captures,
            "failures": self._failures,
            "seconds": round(self._seconds, 3),
            "running": self._running,
            "starts": self.started,
        }

    @asynccontextmanager
    async def _counted(self) -> AsyncGenerator[None, None]:
        began = asyncio.get_running_loop().time()
        self._captures += 1
        self._running += 1
        try:
            yield
        except StepError:
            self._failures += 1
            raise
        finally:
            self._running -= 1
            self._seconds += asyncio.get_running_loop().time() - began

    @property
    def process(self) -> BrowserProcess | None:
        """The running Chromium, if any."""
        return self._current if self._current is not None and self._current.is_open else None

    @property
    def retiring(self) -> int:
        """The number of Chromiums that are ending."""
        return len(self._retiring)

    async def check(self) -> BrowserProcess:
        """Start Chromium if it does not run, for `forebay doctor`.

        Raises: ConfigError, TransientError.
        """
        return await self._ready()

    async def close(self) -> None:
        """End all processes of Chromium."""
        if self._aging is not None:
            self._aging.cancel()
        if self._current is not None:
            await self._current.kill()
        await asyncio.gather(*self._retiring, return_exceptions=True)

    async def _captured(
        self, process: BrowserProcess, request: CaptureRequest, viewport: tuple[int, int], purpose: str
    ) -> Capture:
        limits = replace(self._egress.limits, bytes_down=MOST_BYTES_DOWN)
        with self._egress.grant(purpose, limits) as grant:
            tab = Tab(process, grant, viewport)
            try:
                await tab.open()
                async with asyncio.timeout(request.timeout + _SLACK_S):
                    return await Capturing(tab, grant, viewport, request).run()
            except BrowserGone:
                await self._told(process)
                raise TransientError(process.why_gone()) from None
            except ProtocolError as error:
                raise TransientError(f"the page was closed during the capture: {error}") from None
            except TimeoutError:
                raise TransientError(f"the page kept the browser busy for {request.timeout + _SLACK_S:.0f} s") from None
            finally:
                # Also when the capture is cancelled.
                await asyncio.shield(asyncio.ensure_future(tab.close()))

    async def _told(self, process: BrowserProcess) -> None:
        """Wait for the reason of its end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SLACK_S):
                await process.ended.wait()

    # Start and replacement.

    async def _ready(self) -> BrowserProcess:
        async with self._starting:
            current = self._current
            if current is None or not current.is_open or self._is_due(current):
                self._current = None
                if current is not None:
                    self._retire_if_due(current)
                self._current = current = await self._start()
                self._plan_retirement(current)
            return current

    async def _start(self) -> BrowserProcess:
        program = require_browser(self._settings)
        self.started += 1
        process = BrowserProcess(self._settings, self._egress, program, sandboxed=self._sandboxed)
        try:
            await process.start()
        except ConfigError:
            if not self._sandboxed or "sandbox" not in process.said.lower():
                raise
            if self._settings.sandbox in (None, "required"):
                raise ConfigError(
                    "Chromium's sandbox does not start here: allow user namespaces for this account, or run "
                    f"Chromium without it by FOREBAY_SANDBOX=preferred ({process.said.rpartition(chr(10))[2][-200:]})"
                ) from None
            log.warning("browser_sandbox_unavailable", said=process.said[-300:])
            self._sandboxed = False
            return await self._start()
        return process

    def _plan_retirement(self, process: BrowserProcess) -> None:
        """An idle Chromium ends after its lifetime, not at the next capture."""
        due = process.started_at + self._settings.browser_max_age_s
        self._aging = asyncio.get_running_loop().call_at(due, self._retire_if_due, process)

    def _is_due(self, process: BrowserProcess) -> bool:
        """Whether it is due for replacement."""
        age = asyncio.get_running_loop().time() - process.started_at
        return process.captures >= self._settings.browser_max_captures or age >= self._settings.browser_max_age_s

    def _retire_if_due(self, process: BrowserProcess) -> None:
        """End a Chromium that is due once it is idle; it may have been replaced already."""
        if process.running or (process is self._current and not self._is_due(process)):
            return
        if process is self._current:
            self._current = None
            if self._aging is not None:
                self._aging.cancel()
        if process.is_retired:
            return
        process.is_retired = True
        task = asyncio.get_running_loop().create_task(process.kill())
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)


@asynccontextmanager
async def open_browser(settings: Settings, egress: Egress) -> AsyncGenerator[Browser, None]:
    """A browser within the `async with` block; nothing is started before the first capture."""
    browser = Browser(settings, egress)
    try:
        yield browser
    finally:
        await browser.close()
