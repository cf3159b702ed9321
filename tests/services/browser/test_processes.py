"""The browser's processes: replaced when they are done or dead, and never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from forebay.errors import ConfigError, StepError, TransientError
from forebay.services.browser import Browser, find_browser
from forebay.settings import Settings
from tests._children import kept_for_others
from tests.corpus.site import Site
from tests.services.browser.conftest import Opened

ROOT = Path(__file__).parents[3]


def tree(pid: int | None = None) -> set[psutil.Process]:
    """What runs below a process, without what this one keeps for other tests of the run: the database, and the browser
    of the web app's tests with its driver."""
    found = set(psutil.Process(pid).children(recursive=True))
    return found - kept_for_others(found)


def browsers(kind: str) -> list[psutil.Process]:
    """Chromium's processes of that type below this one; the main one has no type."""
    found = [each for each in tree() if words(each, "--") and "chrom" in name(each) and "crashpad" not in name(each)]
    return [each for each in found if words(each, "--type=") == {kind} - {""}]


def words(process: psutil.Process, prefix: str) -> set[str]:
    """The arguments of a process that begin so, without that; none of one that has ended."""
    with contextlib.suppress(psutil.Error):
        return {word.removeprefix(prefix) for word in process.cmdline() if word.startswith(prefix)}
    return set()


def name(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return process.name()
    return ""


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # processes tell nobody when they end


def there(folders: set[str]) -> list[str]:
    return [folder for folder in folders if Path(folder).exists()]


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def place(site: Site, path: str) -> str:
    return f"http://good.test:{site.port}{path}"


async def visiting(browser: Browser, site: Site) -> asyncio.Task[object]:
    """A capture that shows a page without end: it has asked for the picture on it."""
    site.visits.clear()
    task: asyncio.Task[object] = asyncio.create_task(browser.capture(place(site, "/endless"), timeout=100))
    assert await asyncio.to_thread(site.visited, "/photo.png")
    return task


async def test_nothing_is_left(opened: Opened, site: Site) -> None:
    before = tree()
    async with opened() as browser:
        assert tree() == before  # nothing before it is needed
        await browser.capture(place(site, "/plain"))
        started = tree() - before
        folders = {folder for each in started for folder in words(each, "--user-data-dir=")}
        assert len(started) > 3
        assert len(folders) == 1
    _, left = psutil.wait_procs(started, timeout=30)
    assert left == []
    assert not there(folders)


async def test_captures_leak_neither_processes_nor_descriptors(opened: Opened, site: Site) -> None:
    await _leaks_nothing(opened, site, rounds=4)


@pytest.mark.soak
async def test_five_hundred_captures(opened: Opened, site: Site) -> None:
    await _leaks_nothing(opened, site, rounds=100)


async def _leaks_nothing(opened: Opened, site: Site, rounds: int) -> None:
    """Five captures a round, of pages that end in five ways; the browser is replaced on the way."""
    fresh = descriptors()
    async with opened(browser_max_captures=12) as browser:
        seen: list[tuple[int, int]] = []
        for _ in range(rounds):
            paths = ("/article", "/missing", "/paper.pdf", "/worker", "/loop")
            await asyncio.gather(*(browser.capture(place(site, path)) for path in paths), return_exceptions=True)
            # One that forks looks like two for a moment.
            await eventually(lambda: browser.retiring == 0 and len(browsers("")) <= 1)
            seen.append((descriptors(), len(browsers(""))))
        # A browser may just be due: then there is none until the next capture.
        assert {mains for _, mains in seen} <= {0, 1}
        assert max(count for count, _ in seen[1:]) <= max(count for count, _ in seen[:2]) + 3
        assert browser.started == -(-5 * rounds // 12)
    assert descriptors() <= fresh + 1


async def test_a_killed_browser_fails_only_what_runs(opened: Opened, site: Site) -> None:
    async with opened() as browser:
        running = await visiting(browser, site)
        (main,) = browsers("")
        main.kill()
        with pytest.raises(TransientError, match="ended unexpectedly"):
            await running
        assert (await browser.capture(place(site, "/plain"))).title == "Plain words"
        assert browser.started == 2


async def test_a_crashed_tab_fails_only_its_capture(opened: Opened, site: Site) -> None:
    async with opened() as browser:
        running = await visiting(browser, site)
        for renderer in browsers("renderer"):  # one of them is kept for the next page
            renderer.kill()
        with pytest.raises(TransientError, match="crashed its tab"):
            await running
        assert (await browser.capture(place(site, "/plain"))).title == "Plain words"
        assert browser.started == 1


async def test_a_cancelled_capture_closes_its_page(opened: Opened, site: Site) -> None:
    async with opened() as browser:
        running = await visiting(browser, site)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert browser.process is not None
        left = await browser.process.devtools.call("Target.getBrowserContexts")
        assert left["browserContextIds"] == []
        assert browser.process.running == 0


async def test_a_page_that_eats_all_memory(opened: Opened, site: Site) -> None:
    async with opened(browser_memory_mb=700) as browser:
        with pytest.raises(TransientError, match="used more than 700 MB"):
            await browser.capture(place(site, "/hog"), timeout=120)
        assert (await browser.capture(place(site, "/plain"))).title == "Plain words"
        assert browser.started == 2


async def test_replaced_after_so_many_captures(opened: Opened, site: Site) -> None:
    async with opened(browser_max_captures=2) as browser:
        for _ in range(5):
            await browser.capture(place(site, "/plain"))
        assert browser.started == 3


async def test_replaced_by_age(opened: Opened, site: Site) -> None:
    async with opened(browser_max_age_s=0.001) as browser:
        await asyncio.gather(*(browser.capture(place(site, "/plain")) for _ in range(3)))
        assert browser.started == 3


async def test_a_killed_worker_takes_its_browser_along(site: Site) -> None:
    command = [sys.executable, "-m", "tests.services.browser._worker", place(site, "/endless")]
    site.visits.clear()
    with subprocess.Popen(  # noqa: ASYNC220 - to be killed, not waited for
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as worker:
        assert worker.stdout is not None
        assert await asyncio.to_thread(worker.stdout.readline) == b"started\n"
        assert await asyncio.to_thread(site.visited, "/photo.png")
        started = tree(worker.pid)
        folders = {folder for each in started for folder in words(each, "--user-data-dir=")}
        assert len(started) > 3
        worker.kill()
    await eventually(lambda: not any(each.is_running() for each in started))
    await eventually(lambda: not there(folders))


async def test_the_environment_is_not_handed_on(opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "postgresql://secret@nowhere/x")
    async with opened() as browser:
        await browser.capture(place(site, "/plain"))
        processes = browsers("") + browsers("renderer")
        assert len(processes) >= 2
        assert not [each.pid for each in processes if "FOREBAY_DATABASE_URL" in each.environ()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has somebody else to be")
async def test_root_is_somebody_else_in_there(opened: Opened, site: Site) -> None:
    async with opened() as browser:
        await browser.capture(place(site, "/plain"))
        (main,) = browsers("")
        taken = {0, *(entry.pw_uid for entry in pwd.getpwall())}  # PostgreSQL's among them
        assert main.uids().real not in taken


async def test_without_a_sandbox_where_there_is_none(opened: Opened, site: Site, tmp_path: Path) -> None:
    program = _script(
        tmp_path, 'case "$*" in *--no-sandbox*) exec {} "$@";; esac; echo "No usable sandbox!" >&2; exit 1'
    )
    async with opened(browser_path=program) as browser:
        with pytest.raises(ConfigError) as refused:  # never without being told
            await browser.capture(place(site, "/plain"))
        assert str(refused.value) == (
            "Chromium's sandbox does not start here: allow user namespaces for this account, or run Chromium without "
            "it by FOREBAY_SANDBOX=preferred (No usable sandbox!)"
        )
    async with opened(browser_path=program, sandbox="preferred") as browser:
        assert (await browser.capture(place(site, "/plain"))).title == "Plain words"
        assert browser.process is not None
        assert (browser.process.sandboxed, browser.started) == (False, 2)


async def test_a_browser_that_does_not_start(opened: Opened, site: Site, tmp_path: Path) -> None:
    program = _script(tmp_path, 'echo "libnss3.so is missing" >&2; exit 127')
    async with opened(browser_path=program) as browser:
        with pytest.raises(ConfigError, match=r"does not start.*libnss3\.so is missing"):
            await browser.capture(place(site, "/plain"))


async def test_a_browser_in_a_container_that_hides_proc(
    opened: Opened, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chromium ends without a word there."""
    monkeypatch.setattr("forebay.services.browser.process.hides_proc", lambda: True)
    async with opened(browser_path=_script(tmp_path, "kill -TRAP $$")) as browser:
        with pytest.raises(ConfigError) as refused:
            await browser.capture(place(site, "/plain"))
    assert str(refused.value) == (
        "Chromium does not start in a sandbox without /proc, and this container hides parts of /proc: start the "
        "container with all of it (docker run --security-opt systempaths=unconfined), or set FOREBAY_SANDBOX=off"
    )


def _script(folder: Path, text: str) -> Path:
    """A program in a folder that everybody can enter."""
    found = find_browser(Settings())
    for each in (folder, *folder.parents[:3]):
        each.chmod(each.stat().st_mode | 0o055)
    program = folder / "browser"
    program.write_text("#!/bin/sh\n" + text.replace("{}", str(found)) + "\n")
    program.chmod(0o755)
    return program


async def test_no_browser(opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async with opened(browser_path="/nowhere/chromium") as browser:
        with pytest.raises(ConfigError, match="FOREBAY_BROWSER_PATH is /nowhere/chromium"):
            await browser.capture(place(site, "/plain"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("forebay.services.browser.executable._PLACES", ())
    async with opened() as browser:
        with pytest.raises(
            StepError, match="apt-get install --no-install-recommends chromium-headless-shell"
        ) as raised:
            await browser.capture(place(site, "/plain"))
        assert isinstance(raised.value, ConfigError)


# Without Chromium: when processes are replaced and ended.


class _Pretended:
    """What a browser needs of a process; starts at once, or never."""

    made: list[_Pretended]
    starts: asyncio.Event

    def __init__(self, *_: object, sandboxed: bool) -> None:
        self.captures = self.running = 0
        self.is_open, self.is_retired, self.killed = True, False, False
        self.made.append(self)

    async def start(self) -> None:
        self.started_at = asyncio.get_running_loop().time()

    async def kill(self) -> None:
        self.killed, self.is_open = True, False


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[_Pretended]:
    _Pretended.made = []
    monkeypatch.setattr("forebay.services.browser.browser.BrowserProcess", _Pretended)
    return _Pretended.made


async def test_an_idle_browser_ends_with_its_age(opened: Opened, pretended: list[_Pretended]) -> None:
    async with opened(browser_max_age_s=0.05) as browser:
        await browser.check()
        await eventually(lambda: pretended[0].killed)  # nobody asks for a capture any more
        await browser.check()
        assert (len(pretended), pretended[1].killed) == (2, False)
    assert all(each.killed for each in pretended)


async def test_a_browser_that_is_replaced_while_idle_is_ended(opened: Opened, pretended: list[_Pretended]) -> None:
    async with opened(browser_max_captures=1) as browser:
        for _ in range(3):
            await browser.check()
            pretended[-1].captures = 1  # it is due, and no capture of it ends
        await eventually(lambda: browser.retiring == 0)
        assert [each.killed for each in pretended] == [True, True, False]


async def test_a_cancelled_start_leaves_nothing(opened: Opened, tmp_path: Path) -> None:
    before = tree()
    program = _script(tmp_path, "sleep 600")
    async with opened(browser_path=program) as browser:
        starting = asyncio.create_task(browser.check())
        await eventually(lambda: any("sleep" in name(each) for each in tree() - before))
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert tree() <= before
