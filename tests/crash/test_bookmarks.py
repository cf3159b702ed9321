"""A worker that is killed in any step of a bookmark: that step alone is repeated, and the bookmark ends whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import psutil
import pytest

from forebay.engine.db import registry
from forebay.pipelines.bookmarks.imports import Imported, bookmark_imports
from forebay.pipelines.bookmarks.links import page_hash
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.services.browser import find_browser
from forebay.settings import Settings
from tests.corpus.site import Hold, Page, Site, corpus, serving
from tests.crash._rig import Watch, WorkerProcess, Workers

PAGE = """<html lang="en"><title>The mill</title><meta property="og:image" content="/held/{name}.png">
<link rel="icon" href="/held/{name}-icon.png" sizes="32x32"><body><p>Water falls onto the wheel.</p></body></html>"""
SAID = {"choices": [{"message": {"content": "A mill by a stream."}, "finish_reason": "stop"}]}
OURS, BROWSERS = "forebay", "Chrome"  # in the names of visitors

# Where the answer to a step is held back: its path, and whose visit. Two have nobody to ask; their rows are held back.
HOLDS = {
    "screenshot": ("/held/mill", BROWSERS),
    "metadata": ("/held/mill", OURS),
    "images": ("/held/mill.png", ""),
    "favicon": ("/held/mill-icon.png", ""),
    "caption": ("/v1/chat/completions", ""),
}
ROWS = {
    "ocr": "update of ocr on forebay.bookmark for each row when (new.image_id is not distinct from old.image_id)",
    "add": "insert on forebay.bookmark for each row",
}
STEPS = ("screenshot", "metadata", "images", "favicon", "caption", "ocr")
# The steps of one bookmark, in this order, in which a worker is killed; what runs side by side is killed at once.
KILLED_IN = (("metadata", "screenshot"), ("favicon", "images"), ("caption",))

pytestmark = pytest.mark.skipif(find_browser(Settings()) is None, reason="no Chromium is installed")


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {"/v1/chat/completions": Page("", body=json.dumps(SAID), type="application/json")}
    for name in ("mill", "added"):
        pages[f"/held/{name}"] = Page("", body=PAGE.format(name=name))
        pages |= {f"/held/{name}{kind}.png": Page("", make="png", type="image/png") for kind in ("", "-icon")}
    corpus().update(pages)
    with serving() as site:
        yield site
    for path in pages:
        del corpus()[path]


Begin = Callable[[], Awaitable[int]]


@asynccontextmanager
async def held(steps: tuple[str, ...], begin: Begin, site: Site, watch: Watch) -> AsyncGenerator[int]:
    """Within the block the steps have begun and cannot end; answers their job."""
    if HOLDS.keys() >= set(steps):
        with ExitStack() as stack:
            holds = [stack.enter_context(site.holding(Hold(*HOLDS[step]))) for step in steps]
            job = await begin()
            for step, hold in zip(steps, holds, strict=True):
                assert await asyncio.to_thread(hold.reached.wait, 60), step
            yield job
        return
    (step,) = steps
    await watch.fetch(f"create trigger gate before {ROWS[step]} execute function gate()")
    await watch.fetch("select pg_advisory_lock(7)")
    job = await begin()
    waiting = "from pg_locks where locktype = 'advisory' and objid = 7 and not granted"
    await watch.until(f"{step} writes", f"select exists (select {waiting})")
    yield job
    await watch.fetch(f"select pg_terminate_backend(pid, 10000) {waiting}")  # what it was about to write goes with it
    await watch.fetch("select pg_advisory_unlock(7)")
    await watch.fetch("drop trigger gate on forebay.bookmark")


async def kill(worker: WorkerProcess) -> None:
    """The worker, as the kernel does it; its browser and other children go by themselves."""
    children = psutil.Process(worker.pid).children(recursive=True)
    worker.kill()
    _, left = await asyncio.to_thread(psutil.wait_procs, children, 30)
    assert left == []


async def attempts(watch: Watch, job: int) -> dict[str, list[str]]:
    """How the attempts of each step ended, in order."""
    rows = await watch.fetch(
        """select s.name, array_agg(a.outcome::text order by a.token) as ended
           from forebay.attempt a join forebay.step s on s.id = a.step_id where a.job_id = $1 group by s.name""",
        job,
    )
    return {row["name"]: row["ended"] for row in rows}


_ALONE = """select array_agg(s.name order by s.name) = $2::text[]
                   and not exists (select from forebay.ready r where r.job_id = $1)
            from forebay.lease l join forebay.step s on s.id = l.step_id where l.job_id = $1"""
_WHOLE = """select b.title = 'The mill' and b.body like '%onto the wheel%' and b.caption is not distinct from $2
                   and b.screenshot_id is not null and b.image_id is not null and b.favicon_id is not null
            from forebay.bookmark b where b.url = $1"""


async def test_only_the_steps_in_which_a_worker_was_killed_are_repeated(
    workers: Workers, watch: Watch, site: Site, tmp_path: Path
) -> None:
    base = f"http://127.0.0.1:{site.port}"
    mill, added = f"{base}/held/mill", f"{base}/held/added"
    settings = {"data_dir": str(tmp_path / "data"), "egress_allow_networks": "127.0.0.0/8"}
    settings |= {"caption_url": f"{base}/v1", "caption_model": "eyes", "lease_floor_s": "600"}
    settings |= {"pipelines": "forebay.pipelines"}
    for pipeline in (bookmarks, bookmark_imports):
        await registry.register(await watch.conn(), pipeline.definition())
    owner = await watch.one("select forebay.owner_id('ann')")
    await watch.fetch(
        """create function gate() returns trigger language plpgsql as
           $$begin perform pg_advisory_xact_lock(7); return new; end$$"""
    )

    async def killed_in(steps: tuple[str, ...], begin: Begin) -> int:
        """The job in which the worker is killed while these steps run, and no others."""
        async with held(steps, begin, site, watch) as job:
            await watch.until(f"only {steps} run", _ALONE, job, list(steps))
            await kill(workers.all[-1])
        await watch.fetch("update forebay.lease set expires_at = clock_timestamp()")  # time passes
        return job

    async def go_on() -> int:
        workers.start(**settings)
        return job

    async def add() -> int:
        sql = "select job_id from forebay.add_bookmark($1, $2, $3, null, null, null, null)"
        return int(await watch.one(sql, owner, mill, page_hash(mill)))

    async def read_again() -> int:
        """Only the text in the picture, of a bookmark that has all: what waits to be written would hold up the rest."""
        again = "select forebay.crawl_bookmark(b.owner_id, b.id, b.url, only_steps => '{ocr}')"
        return int(await watch.one(f"{again} from forebay.bookmark b where b.url = $1", mill))

    async def bring_in() -> int:
        return (await bookmark_imports.submit(await watch.conn(), Imported(url=added), owner="ann")).job_id

    async def ended(job: int, url: str, caption: str | None) -> None:
        """The job, and the bookmark, which is whole."""
        await watch.done([job])
        own = await watch.one("select job_id from forebay.bookmark where url = $1", url)
        await watch.done([own])
        assert await watch.one(_WHOLE, url, caption)
        statuses = "select array_agg(distinct status::text) from forebay.item where job_id = $1"
        assert await watch.one(statuses, own) == ["DONE"]

    job = 0
    workers.start(**settings)
    job = await killed_in(KILLED_IN[0], add)
    for steps in KILLED_IN[1:]:
        await killed_in(steps, go_on)
    await ended(await go_on(), mill, "A mill by a stream.")
    repeated = {step: ["EXPIRED", "DONE"] for steps in KILLED_IN for step in steps}
    assert await attempts(watch, job) == {step: ["DONE"] for step in STEPS} | repeated

    job = await killed_in(("ocr",), read_again)
    await ended(await go_on(), mill, None)  # with a new picture what was said of the old one goes
    skipped = {step: ["SKIPPED"] for step in ("screenshot", "favicon", "caption")}
    again = {"metadata": ["DONE"], "images": ["DONE"], "ocr": ["EXPIRED", "DONE"]}
    assert await attempts(watch, job) == skipped | again

    job = await killed_in(("add",), bring_in)
    await ended(await go_on(), added, "A mill by a stream.")
    assert await attempts(watch, job) == {"add": ["EXPIRED", "DONE"]}
    await workers.stop_all()
