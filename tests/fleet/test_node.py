"""The examples for Node: a runner without the database, and a producer whose jobs are submitted to PostgreSQL first."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay import Context, Pipeline, Retry
from forebay.engine.submit.results import wait
from forebay.fleet.bullmq import BullMQDispatcher, BullMQRunner, ProducedJobs
from scripts.web import node_folder
from tests.fleet._polling import until
from tests.fleet._redis import RedisServer
from tests.fleet._setups import Fleet, running

REPO = Path(__file__).parents[2]
EXAMPLES = REPO / "examples" / "node"


@pytest.fixture(scope="session")
def node_examples() -> Path:
    """The examples with their packages, installed once for each lock file."""
    lock = hashlib.sha256((EXAMPLES / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = REPO / "build" / f"node-examples-{lock}"
    folder.parent.mkdir(exist_ok=True)
    with Path(f"{folder}.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        if not (folder / "installed").exists():
            shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
            npm = node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            _run(folder, str(npm), "install", "--ignore-scripts", "--no-audit", "--no-fund")
            (folder / "installed").touch()
    for file in EXAMPLES.glob("*.mjs"):
        shutil.copy(file, folder)
    return folder


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{node_folder() / 'bin'}:{os.environ['PATH']}"}


def _run(folder: Path, *command: str) -> str:
    node = str(node_folder() / "bin" / "node")
    done = subprocess.run([node, *command], cwd=folder, env=_environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@asynccontextmanager
async def _node_runner(
    folder: Path, url: str, step: str, prefix: str, program: str = "runner.mjs"
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        node_folder() / "bin" / "node", program, url, step, prefix, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).startswith(b"node-")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
def words() -> Pipeline[Any]:
    return _words()


def _words(**options: Any) -> Pipeline[Any]:
    pipeline: Pipeline[Any] = Pipeline("words", object)

    @pipeline.step(**options)  # type: ignore[untyped-decorator]
    async def count(ctx: Context, value: object) -> dict[str, Any]:
        raise AssertionError("the runner for Node does this")

    return pipeline


async def test_a_runner_for_node_runs_a_step(
    dsn: str, conn: asyncpg.Connection[Any], redis_server: RedisServer, node_examples: Path, words: Pipeline[Any]
) -> None:
    url = f"{redis_server.url}?prefix=node"
    fleet = Fleet(lambda: BullMQDispatcher(url), lambda: BullMQRunner(url))
    large = "word " * 40_000  # not in the offer: it is asked for
    async with running(fleet.dispatcher(dsn, words)):
        job = await words.submit_many(conn, ["one two three", 7, large])
        async with _node_runner(node_examples, redis_server.url, "words.count", "node") as runner:
            summary = await wait(dsn, job.job_id, timeout=60)
            runner.terminate()
            assert await runner.wait() == 0
    assert (summary.done, summary.error) == (2, 1)
    rows = await conn.fetch(
        "select result ->> 'count', error ->> 'class', error ->> 'reason' from forebay.item order by n"
    )
    assert [(row[0] and json.loads(row[0]), row[1], row[2]) for row in rows] == [
        ({"words": 3, "by": "node"}, None, None),
        (None, "data", "the input must be text"),
        ({"words": 40_000, "by": "node"}, None, None),
    ]


@pytest.fixture
def hostile_runner(node_examples: Path) -> Iterator[str]:
    """The runner with a step that also hangs, and that also ends its process."""
    program = (node_examples / "runner.mjs").read_text()
    begin = "async function run(input, signal) {\n"
    assert program.count(begin) == 1
    more = (
        '  if (input === "hang") await new Promise(() => {});\n  if (input === "die") process.kill(process.pid, 9);\n'
    )
    ours = node_examples / f"hostile-{os.getpid()}.mjs"
    ours.write_text(program.replace(begin, begin + more))
    yield ours.name
    ours.unlink()


async def test_a_runner_for_node_ends_calls_at_their_timeout(
    dsn: str, conn: asyncpg.Connection[Any], redis_server: RedisServer, node_examples: Path, hostile_runner: str
) -> None:
    words = _words(timeout=0.5, retry=Retry(attempts=1))
    url = f"{redis_server.url}?prefix=hanging"
    fleet = Fleet(lambda: BullMQDispatcher(url), lambda: BullMQRunner(url))
    async with (
        running(fleet.dispatcher(dsn, words)),
        _node_runner(node_examples, redis_server.url, "words.count", "hanging", hostile_runner),
    ):
        job = await words.submit_many(conn, ["hang"] * 5 + ["one two"] * 5)
        await wait(dsn, job.job_id, timeout=60)
    rows = await conn.fetch("select error ->> 'reason' as reason, count(*) from forebay.item where n > 0 group by 1")
    assert {tuple(row) for row in rows} == {("timed out after 0.5 s", 5), (None, 5)}


async def test_a_task_that_ends_its_runner_for_node_counts_as_lost(
    dsn: str,
    conn: asyncpg.Connection[Any],
    redis_server: RedisServer,
    node_examples: Path,
    hostile_runner: str,
    words: Pipeline[Any],
) -> None:
    """Although it has ended before its first periodic sign of life with this task."""
    url = f"{redis_server.url}?prefix=dying"
    fleet = Fleet(lambda: BullMQDispatcher(url), lambda: BullMQRunner(url))
    async with running(fleet.dispatcher(dsn, words, lease_floor_s=1.0, sweep_s=0.1)):
        await words.submit(conn, "die")
        async with _node_runner(node_examples, redis_server.url, "words.count", "dying", hostile_runner) as runner:
            assert await runner.wait() == -9
        await until(conn, "count(*) = 1 from forebay.attempt where outcome = 'EXPIRED'")


async def test_a_runner_for_node_outlives_redis(
    dsn: str, conn: asyncpg.Connection[Any], node_examples: Path, words: Pipeline[Any], tmp_path: Path
) -> None:
    with RedisServer(tmp_path) as server:
        fleet = Fleet(lambda: BullMQDispatcher(server.url), lambda: BullMQRunner(server.url))
        async with (
            running(fleet.dispatcher(dsn, words)),
            _node_runner(node_examples, server.url, "words.count", "forebay") as runner,
        ):
            before = await words.submit(conn, "one")
            await wait(dsn, before.job_id, timeout=60)
            server.kill()
            server.start()
            after = await words.submit(conn, "one two")
            assert (await wait(dsn, after.job_id, timeout=60)).done == 1
            assert runner.returncode is None


async def test_jobs_of_a_producer_for_node_are_submitted_to_postgresql_first(
    dsn: str, conn: asyncpg.Connection[Any], redis_server: RedisServer, node_examples: Path, words: Pipeline[Any]
) -> None:
    url = f"{redis_server.url}?prefix=produced"
    submitting = asyncio.create_task(ProducedJobs(url, "submits", [words], dsn).run())
    try:
        said = [
            json.loads(await _produced(node_examples, redis_server.url, *arguments))
            for arguments in (("words", '"a b"'), ("nothing", '"a"'))
        ]
    finally:
        submitting.cancel()
        await asyncio.gather(submitting, return_exceptions=True)
    (row,) = await conn.fetch("select id::text, owner, pipeline from forebay.jobs")
    assert said[0] == {"job_id": row["id"]}
    assert (row["owner"], row["pipeline"]) == ("anna", "words")
    assert said[1] == {"error": "pipeline: 'nothing' is not known here; there are words"}


async def _produced(folder: Path, url: str, pipeline: str, given: str) -> str:
    node = str(node_folder() / "bin" / "node")
    process = await asyncio.create_subprocess_exec(
        node, "producer.mjs", url, "submits", pipeline, given, "produced", cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return output.decode()
