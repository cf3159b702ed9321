"""Five hundred bookmarks in a row: nothing is leaked, and memory stays flat."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

import psutil
import pytest

from forebay.services.browser import find_browser
from forebay.settings import Settings
from tests.corpus.site import Site
from tests.pipelines._crawl import crawling

_ROUNDS, _EACH = 10, 50
_PATHS = (
    "/article", "/plain", "/banner", "/infinite", "/paper.pdf",
    "/photo.png", "/missing", "/wall", "/worker", "/iframes",
)  # fmt: skip


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a count


def _kinds() -> tuple[int, int]:
    """Processes, without those of Chromium that come and go with pages; and those that are dead and not buried."""
    living = dead = 0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.status() == psutil.STATUS_ZOMBIE:
                dead += 1
            else:
                living += "--type=" not in " ".join(child.cmdline())
    return living, dead


async def _at_rest() -> tuple[int, int]:
    """The same once those that have just ended are buried, which Chromium does in its time; or half a minute later."""
    for _ in range(300):
        if _kinds()[1] == 0:
            break
        await asyncio.sleep(0.1)
    return _kinds()


@pytest.mark.soak
@pytest.mark.skipif(find_browser(Settings()) is None, reason="no Chromium is installed")
async def test_five_hundred_in_a_row(dsn: str, site: Site, tmp_path: Path) -> None:
    seen: list[tuple[int, int, int, int]] = []
    before = _kinds()
    async with crawling(dsn, site, tmp_path, browser_path=None, browser_max_captures=100) as crawl:
        for turn in range(_ROUNDS):
            paths = [f"{_PATHS[n % len(_PATHS)]}?turn={turn}&n={n}" for n in range(_EACH)]
            marks = [await crawl.add(path, owner=f"owner {n % 3}") for n, path in enumerate(paths)]
            await crawl.bed.run()
            status = [(await crawl.item(mark))["status"] for mark in marks]
            assert "PENDING" not in status
            memory = psutil.Process().memory_info().rss // 2**20
            seen.append((_descriptors(), *await _at_rest(), memory))
    # What leaks grows from round to round; what comes and goes with Chromium's own pace does not.
    early, late = seen[2:6], seen[6:]
    for place, slack in ((0, 10), (1, 6)):  # descriptors, processes
        assert max(row[place] for row in late) <= max(row[place] for row in early) + slack, seen
    assert all(dead == 0 for _, _, dead, _ in late), seen
    assert late[-1][3] <= 1.15 * early[0][3], seen
    assert await _at_rest() == before, seen
    print(seen)  # noqa: T201 - for whoever runs it
