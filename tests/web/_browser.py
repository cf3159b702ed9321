"""A real Chromium with the strict policy on: whatever a page complains about fails the test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Locator, Page, Playwright, Request, Response

from tests.cli._run import until

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
PATIENCE_MS = 30_000
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # A page is looked at for a second: what the optimizing compilers spend on it never comes back.
    "--js-flags=--no-opt --no-maglev",
)
_MAX_SHIFT = 0.02
# A function of the page that brings axe along, and whether axe is there: to send it each time takes as long as a third
# of what it does.
_AXE_KEPT = "window.__loadAxe = () => {%s\n};"
_AXE_LOADED = "'axe' in window || (window.__loadAxe?.(), 'axe' in window)"
# What passed is not collected: a fifth of the time.
_AXE_RUN = """([tags, inside]) => axe.run(inside ?? document, {runOnly: tags, resultTypes: ["violations"]})
  .then(done => done.violations)"""

# Runs before the page's own scripts: what the policy forbade, and what moved without being asked to.
_WATCH = """
window.__violations = [];
window.__shift = window.__shiftOfAll = 0;
window.__moved = [];
document.addEventListener("securitypolicyviolation", event =>
  window.__violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    window.__shiftOfAll += entry.value;
    if (entry.hadRecentInput) continue;
    window.__shift += entry.value;
    for (const {node, previousRect: from, currentRect: to} of entry.sources) {
      const element = node instanceof Element ? node : node?.parentElement;
      const [name] = (element?.outerHTML ?? "an element that is gone").match(/^[^>]{0,120}/);
      window.__moved.push(`${name}> from ${from.x},${from.y} ${from.width}x${from.height}`
        + ` to ${to.x},${to.y} ${to.width}x${to.height} in ${location.pathname}`);
    }
  }
}).observe({type: "layout-shift", buffered: true});
"""


def require() -> str:
    """The browser. Locally its absence skips the test; in CI it is a failure."""
    if CHROMIUM is not None:
        return CHROMIUM
    reason = "no Chromium is installed: apt-get install chromium-headless-shell"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@cache
def build() -> None:
    """Bring src/forebay/web up to date, once in a test process."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "web.py"), "build"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=require(), args=list(_FLAGS))


@cache
def _axe() -> str:
    return AXE.read_text("utf-8")


@dataclass
class Watched:
    """A page, and what it has complained about. `allowed` are statuses that the test provokes."""

    page: Page
    site: str
    allowed: set[int] = field(default_factory=set[int])
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    ignores_shift: bool = False
    _device: CDPSession | None = None

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("response", self._response)
        self.page.on("requestfailed", self._failed)
        self.page.on("request", lambda request: self.requests.append(f"{request.method} {_path(request.url)}"))

    def another_tab(self) -> Watched:
        """Another page of the same browser, with the same session."""
        return Watched(self.page.context.new_page(), self.site, self.allowed, self.complaints)

    def open(self, path: str = "/") -> Page:
        self.page.goto(f"{self.site}{path}")
        return self.page

    def take(self, *, width: int, height: int, dark: bool) -> None:
        """Take another device. Pages are to be opened anew, as on any other."""
        if self._device is None:
            self._device = self.page.context.new_cdp_session(self.page)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self._device.send("Emulation.setTouchEmulationEnabled", {"enabled": width < 900})

    def rest(self) -> None:
        """Leave the app for a plain file of the site. The process that drew the page stays, with what it has compiled;
        for about:blank there would be another. This file has few lines to be drawn."""
        self.open("/theme.js")

    def check(self) -> None:
        if not self.page.is_closed() and self.page.url.startswith(self.site):
            self.complaints += [f"policy: {each}" for each in self.page.evaluate("window.__violations ?? []")]
            shift: float = self.page.evaluate("window.__shift ?? 0")
            if shift > _MAX_SHIFT and not self.ignores_shift:
                moved: list[str] = self.page.evaluate("window.__moved")
                self.complaints.append("\n  ".join([f"layout shift of {shift:.3f}:", *moved]))
        assert not self.complaints, "\n".join(self.complaints)

    def moves_little(self, *, since: float = 0) -> None:
        """Hardly anything has moved since then, not even soon after input: on a slow machine, that is not soon."""
        assert self.page.evaluate("window.__shiftOfAll") - since <= _MAX_SHIFT

    def keep_axe(self) -> None:
        """Have axe in each document that is opened from now on, unused until it is needed."""
        self.page.add_init_script(_AXE_KEPT % _axe())

    def axe(self, *, inside: str | None = None) -> None:
        """No violation of WCAG 2.2 A and AA. With a modal dialog open, only that is looked at."""
        if not self.page.evaluate(_AXE_LOADED):
            self.page.evaluate(_axe())
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found: Any = self.page.evaluate(_AXE_RUN, [tags, inside])
        told = [f"{each['id']}: {node['html']} {node['failureSummary']}" for each in found for node in each["nodes"]]
        assert told == [], "\n".join(told)

    def _console(self, message: ConsoleMessage) -> None:
        # The console repeats each answer of 400 and more, which `_response` judges.
        provoked = "Failed to load resource", *(("ProblemError: There is no answer",) if 0 in self.allowed else ())
        if message.type in {"error", "warning"} and not message.text.startswith(provoked):
            self.complaints.append(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.allowed:
            self.complaints.append(f"{response.status}: {response.request.method} {_path(response.url)}")

    def _failed(self, request: Request) -> None:
        if request.failure and "ERR_ABORTED" not in request.failure and 0 not in self.allowed:
            self.complaints.append(f"failed: {request.url} {request.failure}")


def forward_until_seen(page: Page, words: Locator, *, step_ms: int) -> None:
    """Advance the clock of the page, which the test has installed, until it shows these words. In a step, each timer
    fires once: all that run in such a time, such as those of each frame, take seconds of CPU."""

    def is_seen() -> bool:
        if words.is_visible():
            return True
        page.clock.fast_forward(step_ms)
        return False

    until(is_seen, lambda: words)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


@contextmanager
def watched(
    browser: Browser,
    site: str,
    *,
    width: int = 1440,
    height: int = 900,
    dark: bool = False,
    cookies: Sequence[dict[str, Any]] = (),
    touch: bool = False,
    workers: bool = False,
    motion: bool = False,
) -> Iterator[Watched]:
    """A page of a browser that knows nothing but these cookies; it is checked at the end."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="no-preference" if motion else "reduce",
        locale="en-GB",
        timezone_id="Europe/Berlin",
        has_touch=touch,
    )
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(_WATCH)
    if not workers:  # as over plain HTTP; where there is one, it downloads the app again for each context
        context.add_init_script("delete Navigator.prototype.serviceWorker")
    context.add_cookies(list(cookies))  # type: ignore[arg-type]
    try:
        page = Watched(context.new_page(), site)
        yield page
        page.check()
    finally:
        context.close()
