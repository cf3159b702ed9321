"""A real browser without a window, driven over a pipe in its own protocol: nothing else needs to be installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None
)
PATIENCE = 60.0
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
_KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), " ": (32, " ")}


class Page:
    """One page, and what its console has complained about."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, os.fdopen(back, "rb")
        self._buffer, self._last, self._session = b"", 0, ""
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self._ask(f"{domain}.enable")

    def _ask(self, method: str, **params: Any) -> Any:
        self._last += 1
        said = {"id": self._last, "method": method, "params": params}
        os.write(self._to, json.dumps(said | ({"sessionId": self._session} if self._session else {})).encode() + b"\0")
        while (heard := self._hear()).get("id") != self._last:
            self._note(heard)
        assert "error" not in heard, heard["error"]
        return heard["result"]

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            got = os.read(self._back.fileno(), 1 << 16)
            assert got, "the browser has ended"
            self._buffer += got
        first, _, self._buffer = self._buffer.partition(b"\0")
        heard: dict[str, Any] = json.loads(first)
        return heard

    def _note(self, heard: dict[str, Any]) -> None:
        if heard.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(heard["params"]["exceptionDetails"]))
        entry = heard.get("params", {}).get("entry", {})
        if entry.get("level") == "error" and entry.get("source") != "network":  # answers like 401 are on purpose
            self.complaints.append(entry["text"])

    def resize(self, width: int, height: int) -> None:
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True)

    def open(self, url: str) -> None:
        self._ask("Page.navigate", url="about:blank")  # another fragment alone would not load the page again
        self._ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        done = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, condition: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self._holds(condition):
            assert time.monotonic() < deadline, f"never: {condition}; the page says {self.text!r}"
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        """Not while one page goes and the next one comes: there is nobody to ask, or an element is not there yet."""
        try:
            return bool(self.run(f"(() => {{ try {{ return Boolean({condition}) }} catch {{ return false }} }})()"))
        except AssertionError as error:
            if "navigated" in str(error) or "context" in str(error):
                return False
            raise

    def click(self, element: str) -> None:
        self.run(f"document.getElementById({json.dumps(element)}).click()")

    def says(self, text: str) -> None:
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    @property
    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    @property
    def focus(self) -> str:
        return str(self.run("document.activeElement.id"))

    def write(self, text: str) -> None:
        self._ask("Input.insertText", text=text)

    def press(self, key: str) -> None:
        code, text = _KEYS[key]
        given = {"key": key, "code": key.strip() or "Space", "windowsVirtualKeyCode": code}
        self._ask("Input.dispatchKeyEvent", type="keyDown", text=text, **given)
        self._ask("Input.dispatchKeyEvent", type="keyUp", **given)

    def heard(self) -> list[tuple[str, str]]:
        """What a screen reader meets: the roles and names of what is not hidden."""
        nodes = self._ask("Accessibility.getFullAXTree")["nodes"]
        seen = [node for node in nodes if not node["ignored"]]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in seen]

    def close(self) -> None:
        with suppress(OSError, AssertionError):
            self._ask("Browser.close")
        self._back.close()


@contextmanager
def browsing() -> Iterator[Page]:
    """A page of a browser that knows nothing."""
    assert BROWSER is not None
    theirs, to = os.pipe()
    back, ours = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = (*_OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder}")
        started = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "browser", BROWSER, *options],
            pass_fds=(theirs, ours),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(ours)
        try:
            page = Page(to, back)
            try:
                yield page
            finally:
                page.close()
        finally:
            os.close(to)
            try:
                started.wait(10)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()
