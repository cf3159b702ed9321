"""A real Chromium that looks at a served web app, and what is measured in it.

Playwright runs in a thread of its own: it needs an event loop of the standard library.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
from playwright.sync_api import Browser, Error, Page, Route, sync_playwright

from bench.harness import ROOT, BenchError

T = TypeVar("T")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
MISSING = "no Chromium is installed: apt-get install chromium-headless-shell"
SPEED = 8_000  # px/s
PATIENCE = 60.0
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking")
_PROBE = Path(__file__).with_name("page_probe.js")
_SCROLL = 5_600  # px: nearly the whole of 200 rows


def build() -> None:
    """Bring the web app up to date.

    Raises: BenchError.
    """
    command = [sys.executable, str(ROOT / "scripts" / "web.py"), "build"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"the web app cannot be built\n{done.stdout}{done.stderr}")


class Chromium:
    """The browser, in its thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._playwright = sync_playwright()
        self.browser: Browser

    async def do(self, action: Callable[[], T]) -> T:
        """Raises: BenchError instead of an error of the browser."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, action)
        except Error as error:
            raise BenchError(f"the browser failed: {error}") from error

    def start(self) -> None:
        self.browser = self._playwright.start().chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))

    def stop(self) -> None:
        self.browser.close()
        self._playwright.__exit__(None, None, None)


@asynccontextmanager
async def browsing() -> AsyncIterator[Chromium]:
    chromium = Chromium()
    await chromium.do(chromium.start)
    try:
        yield chromium
    finally:
        await chromium.do(chromium.stop)


@asynccontextmanager
async def opened(chromium: Chromium, port: int, name: str, password: str, path: str) -> AsyncIterator["Tab"]:
    """A page of the app in a browser of somebody who is signed in."""
    site = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=site) as http:
        answer = await http.post("/api/session", json={"name": name, "password": password})
    if answer.status_code != 201:
        raise BenchError(f"{name} cannot sign in: {answer.text}")

    def open_page() -> Page:
        context = chromium.browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script("delete Navigator.prototype.serviceWorker")
        context.add_init_script(path=_PROBE)
        context.add_cookies([{"name": key, "value": value, "url": site} for key, value in answer.cookies.items()])
        page = context.new_page()
        page.goto(f"{site}{path}")
        return page

    tab = Tab(chromium, await chromium.do(open_page))
    try:
        yield tab
    finally:
        await chromium.do(tab.page.context.close)


class Tab:
    """A page, and the protocol of the browser for what a page cannot do."""

    def __init__(self, chromium: Chromium, page: Page) -> None:
        self._chromium, self.page = chromium, page
        self._protocol: Any = None

    async def see(self, role: Any, name: str) -> None:
        """Wait until it is visible."""
        await self._chromium.do(self.page.get_by_role(role, name=name, exact=True).first.wait_for)

    async def frames(self, gestures: int, *, back_and_forth: bool = False) -> list[float]:
        """The times between frames, in ms, while the grid is scrolled; down only, or down and up again."""

        def measure() -> list[float]:
            self.page.evaluate("probe.record()")
            for number in range(gestures):
                self._scroll(-_SCROLL if back_and_forth and number % 2 else _SCROLL)
            found: list[float] = self.page.evaluate("probe.stop()")
            return found

        return await self._chromium.do(measure)

    async def longest_task(self, gestures: int) -> float:
        """ms of processor time of the longest task of the page's main thread while the grid is scrolled. The times
        between frames contain the time for which other programs had the processor."""

        def measure() -> float:
            browser = self._chromium.browser
            browser.start_tracing(page=self.page, categories=["toplevel", "devtools.timeline"])
            for _ in range(gestures):
                self._scroll(_SCROLL)
            return _longest(json.loads(browser.stop_tracing())["traceEvents"])

        return await self._chromium.do(measure)

    async def missing_share(self, gestures: int) -> float:
        """Of the rows in view during a scroll, the share that had not been loaded yet."""

        def measure() -> float:
            self.page.evaluate("probe.watchRows()")
            for _ in range(gestures):
                self._scroll(_SCROLL)
            share: float = self.page.evaluate("probe.missingShare()")
            return share

        return await self._chromium.do(measure)

    def _scroll(self, distance: int) -> None:
        gesture = {"x": 800, "y": 600, "yDistance": -distance, "speed": SPEED, "preventFling": True}
        self._ask("Input.synthesizeScrollGesture", gesture | {"gestureSourceType": "mouse"})

    def _ask(self, method: str, values: dict[str, Any] | None = None) -> Any:
        self._protocol = self._protocol or self.page.context.new_cdp_session(self.page)
        return self._protocol.send(method, values or {})

    async def heap(self) -> float:
        """MB that are used after a collection."""

        def measure() -> float:
            self._ask("HeapProfiler.collectGarbage")
            return float(self._ask("Runtime.getHeapUsage")["usedSize"]) / 1e6

        return await self._chromium.do(measure)

    async def jump(self, times: int, seed: int) -> None:
        await self._evaluate("([times, seed]) => probe.jump(times, seed)", [times, seed])

    async def freeze(self) -> None:
        """Make the grid 200 rows that nobody draws again."""
        await self._evaluate("probe.freeze()")

    async def painted(self, selector: str, count: int) -> list[float]:
        """ms from an event's arrival in the page until what it changed is painted."""
        found: list[float] = await self._evaluate(
            "([selector, count]) => probe.painted(selector, count)", [selector, count]
        )
        return found

    async def burst(self, events: Sequence[dict[str, Any]]) -> float:
        """The longest task of the page in ms while a stream brings these events at once."""
        told = [f"event: job\ndata: {json.dumps(event)}\n\n" for event in events]
        body = 'event: ready\ndata: {"time": "2026-01-01T00:00:00Z"}\n\n' + "".join(told)
        served: list[str] = []

        def answer(route: Route) -> None:
            served.append(route.request.url)
            if len(served) == 1:
                route.fulfill(status=200, content_type="text/event-stream", body=body)
            else:
                route.continue_()

        def measure() -> float:
            self.page.route("**/api/events?*", answer)
            self.page.evaluate("probe.arrived.length = 0; probe.forgetTasks()")
            for _ in range(2):  # stopped, and continued: with a new stream
                self.page.keyboard.press("l")
            self._until(f"probe.arrived.length >= {len(events)}")
            self._until("probe.sources.at(-1).readyState === 1")  # the next stream, after the end of this one
            self.page.wait_for_timeout(1000)  # the last batch is drawn
            longest: float = self.page.evaluate("probe.longestTask()")
            return longest

        return await self._chromium.do(measure)

    async def renders(self, selector: str, events: Sequence[dict[str, Any]], seconds: float) -> int:
        """How often a list is drawn within a second, at most, while these events arrive."""
        script = "([selector, events, ms]) => probe.renders(selector, events, ms)"
        found: int = await self._evaluate(script, [selector, list(events), seconds * 1e3])
        return found

    async def interactions(self, keys: Sequence[str], slower: float) -> list[float]:
        """ms from each of these keys until the next frame is presented, on a processor that is so much slower. The
        browser tells of those that take 16 ms and more."""

        def press() -> list[float]:
            self._ask("Emulation.setCPUThrottlingRate", {"rate": slower})
            for key in keys:
                self.page.keyboard.press(key)
                self.page.wait_for_timeout(150)  # as a person does: the next key is an interaction of its own
            self._ask("Emulation.setCPUThrottlingRate", {"rate": 1})
            told: list[float] = self.page.evaluate("probe.interactions()")
            return told + [16.0] * (len(keys) - len(told))

        return await self._chromium.do(press)

    def _until(self, condition: str) -> None:
        """The policy of the app forbids the way in which Playwright's own function waits."""
        deadline = time.monotonic() + PATIENCE
        while not self.page.evaluate(condition):
            if time.monotonic() > deadline:
                raise BenchError(f"not within {PATIENCE:g} s: {condition}")
            self.page.wait_for_timeout(100)

    async def _evaluate(self, script: str, value: Any = None) -> Any:
        return await self._chromium.do(lambda: self.page.evaluate(script, value))


def _longest(events: Sequence[dict[str, Any]]) -> float:
    """Of the tasks of the main threads, the longest in ms of processor time."""
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return max(
        (
            event.get("tdur", 0) / 1e3
            for event in events
            if (event["pid"], event["tid"]) in mains and event["ph"] == "X"
        ),
        default=0.0,
    )
