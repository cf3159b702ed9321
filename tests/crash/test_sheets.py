"""`kill -9` of the API and of workers while a file comes, is read, looked up and written out: each row once, and the
same export as if nothing had happened."""

# demands: S5-03, S5-08, S5-116

from __future__ import annotations

import asyncio
import csv
import io
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from forebay.engine.db import registry
from forebay.engine.declare.loading import load_pipelines
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from tests.cli._run import Cli, Process
from tests.crash.test_api import address_of

PIECE = 8192  # bytes sent at a time
BYTES = {"tus-resumable": "1.0.0", "content-type": "application/offset+octet-stream"}
# Small batches, claims and leases: there is much to be cut off, and it comes back soon.
QUICK = {
    "FOREBAY_INGEST_MAX_ROWS": "50", "FOREBAY_CLAIM_MAX": "50", "FOREBAY_LEASE_FLOOR_S": "1", "FOREBAY_SWEEP_S": "0.2",
    "FOREBAY_POLL_S": "0.2", "FOREBAY_LOG_JSON": "1", "FOREBAY_API_PORT": "0", "FOREBAY_PIPELINES": "forebay.pipelines",
    "FOREBAY_SHEETS_NOT_FOUND_WAIT_S": "0",
}  # fmt: skip


def catalogue() -> bytes:
    return table(["SKU", "Title", "Price"], ([f"S-{n}", f"Thing number {n}", f"{n}.50"] for n in range(40)))


def rows(count: int) -> bytes:
    """Rows of which three in four are in the catalogue, one in a hundred cannot be read, and some are formulas."""
    text = table(["SKU", "Title", "Remark"], ([f"S-{n % 53}", f"Thing {n % 53}", f"=A{n}"] for n in range(count)))
    lines = text.split(b"\r\n")
    return b"\r\n".join(line + b",too,many" if place % 100 == 99 else line for place, line in enumerate(lines))


def table(header: list[str], lines: Any) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue().encode()


class Rig:
    """An API and a worker, which are killed and started again."""

    def __init__(self, cli: Cli, conn: asyncpg.Connection[Any], token: str) -> None:
        self.cli, self.conn = cli, conn
        self._headers = {"authorization": f"Bearer {token}"}
        self.kills = 0
        self.worker = cli.fork("worker")
        self.api = cli.fork("api")
        self.client = self._client()

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=address_of(self.api), headers=self._headers, timeout=60)

    async def kill_worker(self) -> None:
        self.worker.signal(signal.SIGKILL)
        self.worker.kill()
        self.kills += 1
        self.worker = self.cli.fork("worker")

    async def kill_api(self) -> None:
        self.api.signal(signal.SIGKILL)
        self.api.kill()
        self.kills += 1
        await self.client.aclose()
        self.api = self.cli.fork("api")
        self.client = self._client()

    async def end(self) -> None:
        await self.client.aclose()
        self.worker.kill()
        self.api.kill()

    async def until(self, sql: str, *args: object, pause: float = 0.002) -> Any:
        """What a query says once that is something; it is asked as fast as it answers, to hit the middle of things."""
        async with asyncio.timeout(300):
            while not (answer := await self.conn.fetchval(sql, *args)):
                self.check(self.worker)
                await asyncio.sleep(pause)
        return answer

    async def finished(self, job: int) -> None:
        """Wait for the end of a job, which need not be hit."""
        await self.until("select finished_at is not null from forebay.job where id = $1", job, pause=0.05)

    @staticmethod
    def check(process: Process) -> None:
        assert not process.has_ended, process.said

    async def upload(self, data: bytes, kill_at: list[int], piece: int = PIECE) -> int:
        """Sends a file in pieces; at some of its bytes the API dies under it."""
        begun = await self.client.post("/api/uploads", headers={**BYTES, "upload-length": str(len(data))})
        assert begun.status_code == 201, begun.text
        place, upto = begun.headers["location"], 0
        while upto < len(data):
            if kill_at and upto >= kill_at[0]:
                kill_at.pop(0)
                sending = asyncio.create_task(self._send(place, data, upto, piece))
                await self.until("select exists (select from forebay.intake_part where start >= $1)", upto)
                await self.kill_api()
                with suppress(httpx.TransportError):
                    await sending
            else:
                await self._send(place, data, upto, piece)
            stands = await self.client.head(place)
            upto = int(stands.headers["upload-offset"])
        return int(begun.json()["jobId"])

    async def _send(self, place: str, data: bytes, upto: int, piece: int) -> None:
        headers = {**BYTES, "upload-offset": str(upto)}
        answer = await self.client.patch(place, content=data[upto : upto + piece], headers=headers)
        assert answer.status_code == 204, answer.text

    async def exported(self, job: int, kills: int) -> bytes:
        begun = await self.client.post(f"/api/jobs/{job}/export", params={"format": "csv"})
        export = int(begun.json()["exportId"])
        for _ in range(kills):
            await self.until(
                "select exists (select from forebay.lease where job_id = $1) or finished_at is not null "
                "from forebay.job where id = $1",
                export,
            )
            await self.kill_worker()
        await self.finished(export)
        told = (await self.client.get(f"/api/exports/{export}")).json()
        assert told["state"] == "DONE", told
        return (await self.client.get(told["url"])).content


@asynccontextmanager
async def rigged(dsn: str, folder: Path) -> AsyncIterator[Rig]:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    account = await identity.add_account(conn, "ann", "user", None)
    assert account is not None
    token = await make_token(conn, account.id, "test", ["read", "write"])
    for pipeline in load_pipelines(["forebay.pipelines"]):
        await registry.register(conn, pipeline.definition())
    rig = Rig(Cli(folder, FOREBAY_DATABASE_URL=dsn, FOREBAY_DATA_DIR=str(folder / "data"), **QUICK), conn, token)
    try:
        yield rig
    finally:
        await rig.end()
        await conn.close()


async def through(rig: Rig, data: bytes, dice: random.Random, kills: int) -> tuple[int, bytes]:
    """A file from its first byte to its export, with so many kills on the way."""
    count = data.count(b"\n") - 1

    def share(most: int) -> list[int]:
        return sorted(dice.randrange(1, most) for _ in range(kills // 4))

    pieces = sorted(dice.sample(range(len(data) // PIECE), kills // 4))  # one kill each
    job = await rig.upload(data, [place * PIECE for place in pieces])
    for upto in share(count):
        await rig.until("select total >= $2 or sealed from forebay.job where id = $1", job, upto)
        await rig.kill_worker()
    ended = "done + not_found + error"
    for upto in share(count):
        await rig.until(f"select {ended} >= $2 and total > 0 from forebay.job where id = $1", job, upto)
        await rig.kill_worker()
    await rig.finished(job)
    return job, await rig.exported(job, kills // 4)


async def assert_once(rig: Rig, job: int, count: int) -> None:
    lines = await rig.conn.fetch(
        """select n, (input ->> 'line')::int as line, status::text as status from forebay.item
           where job_id = $1 order by n""",
        job,
    )
    assert [row["n"] for row in lines] == list(range(1, count + 1))
    assert [row["line"] for row in lines] == list(range(2, count + 2))
    counted = await rig.conn.fetchrow("select total, done, not_found, error from forebay.job where id = $1", job)
    assert counted is not None
    statuses = [row["status"] for row in lines]
    found = tuple(statuses.count(status) for status in ("DONE", "NOT_FOUND", "ERROR"))
    assert tuple(counted) == (count, *found)
    twice = await rig.conn.fetchval(
        """select count(*) from (select 1 from forebay.attempt where job_id = $1 and outcome = 'DONE'
           group by n, step_id having count(*) > 1) t""",
        job,
    )
    assert twice == 0


@pytest.mark.parametrize(
    ("count", "kills"), [(600, 4), pytest.param(4000, 20, marks=pytest.mark.soak)], ids=["few", "twenty"]
)
async def test_each_row_once_and_the_same_export(dsn: str, tmp_path: Path, count: int, kills: int) -> None:
    data, dice = rows(count), random.Random(7)
    async with rigged(dsn, tmp_path) as rig:
        answer = await rig.client.post(
            "/api/jobs",
            data={"pipeline": "sheets", "options": '{"catalogue": "things"}'},
            files={"file": ("things.csv", catalogue())},
        )
        loading = int(answer.json()["jobId"])
        await rig.finished(loading)
        calm, expected = await through(rig, data, dice, 0)
        await assert_once(rig, calm, count)
        job, export = await through(rig, data, dice, kills)
        await assert_once(rig, job, count)
        assert rig.kills == kills // 4 * 4
        assert export == expected
        statuses = {line["Status"] for line in csv.DictReader(io.StringIO(export.decode("utf-8-sig")))}
        assert statuses == {"DONE", "NOT_FOUND", "ERROR"}
