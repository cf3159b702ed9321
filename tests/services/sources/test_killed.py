"""Files of S3, FTP and SFTP become rows once each, though the worker is killed as it scans, and as it fetches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import trustme

from forebay.engine.db import registry
from forebay.engine.declare.loading import load_pipelines
from forebay.intake.scans import ScanRequest
from forebay.pipelines.sheets.intake import sheet_scans
from tests.cli._run import Cli, Process
from tests.crash._rig import Watch
from tests.services.sources._shelves import ENVIRON, Shelf, bucket, ftpd, on_ftp, on_sftp, sshd
from tests.storage._s3 import S3

_FILES = 8  # of each source
_ROWS = 5  # of each file
_LARGE = 160
_GATE = 4242

# The scan stops at a known file, and goes on when the test lets go of the lock.
_STOP = f"""create function public.stop() returns trigger language plpgsql as $$
begin
    if (select count(*) from forebay.sheet) >= 3 then perform pg_advisory_xact_lock_shared({_GATE}); end if;
    return new;
end $$;
create trigger stop before insert on forebay.sheet for each row execute function public.stop()"""
_STOPPED = "select count(*) > 0 from pg_locks where locktype = 'advisory' and objid = $1 and not granted"


@dataclass
class Rig:
    """A worker that is killed and started again."""

    cli: Cli
    watch: Watch
    conn: asyncpg.Connection[Any]
    data: Path
    worker: Process

    async def scan(self, *sources: str) -> list[int]:
        return [(await sheet_scans.submit(self.conn, ScanRequest(source=name), owner="ada")).job_id for name in sources]

    def kill(self) -> None:
        self.worker.kill()
        self.worker = self.cli.fork("worker")

    def spools(self) -> set[Path]:
        """Files that are being fetched, or were when a worker died."""
        return {file for file in self.data.rglob("partial/*/*") if not file.suffix and _size(file) > 1 << 20}

    async def fetching(self, before: set[Path]) -> None:
        """Waits for the middle of a large file."""
        async with asyncio.timeout(120):
            while not self.spools() - before:  # noqa: ASYNC110 - nobody else can tell
                await asyncio.sleep(0.002)

    async def settled(self, scans: list[int]) -> list[int]:
        """How many files each of these scans has taken, when all that they began has ended."""
        await self.watch.done(scans)
        await self.watch.until("all files are read", "select bool_and(read_at is not null) from forebay.sheet")
        return [
            await self.watch.one("select (result #>> '{scan,taken}')::int from forebay.item where job_id = $1", scan)
            for scan in scans
        ]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


@asynccontextmanager
async def rigged(dsn: str, folder: Path, shelves: dict[str, Shelf]) -> AsyncIterator[Rig]:
    sources = folder / "sources"
    sources.mkdir()
    for name, shelf in shelves.items():
        (sources / f"{name}.toml").write_text(_declared(name, shelf))
    given = {"DATABASE_URL": dsn, "DATA_DIR": str(folder / "data"), "SHEETS_SOURCES": str(sources), "LOG_JSON": "1"}
    given |= {"PIPELINES": "forebay.pipelines", "EGRESS_CONFINE": "0", "LEASE_FLOOR_S": "1", "SWEEP_S": "0.2"}
    given |= {"POLL_S": "0.2"}
    cli = Cli(folder, **ENVIRON, **{f"FOREBAY_{name}": value for name, value in given.items()})
    async with Watch(dsn) as watch:
        conn = await watch.conn()
        for pipeline in load_pipelines(["forebay.pipelines"]):
            await registry.register(conn, pipeline.definition())
        rig = Rig(cli, watch, conn, folder / "data", cli.fork("worker"))
        try:
            yield rig
        finally:
            rig.worker.kill()


def _declared(name: str, shelf: Shelf) -> str:
    """Rows wait: only their coming counts here."""
    more = {"name": name, "url": shelf.url, "owner": "ada", "patterns": ["*.csv"], "settle_s": 0}
    given = shelf.more | more
    secrets = given.pop("secrets")
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    return "\n".join(
        [
            *lines,
            "[secrets]",
            *(f"{key} = {json.dumps(value)}" for key, value in secrets.items()),
            "[sheet]",
            "paused = true\n",
        ]
    )


def _file(source: str, name: str, rows: int, filling: str = "") -> bytes:
    return "".join(["Name,Text\n", *(f"{source} {name} {n},{filling}\n" for n in range(rows))]).encode()


async def test_each_file_once(dsn: str, tmp_path: Path, s3: S3, authority: trustme.CA) -> None:
    places = {name: tmp_path / name for name in ("s3", "ftp", "sftp")}
    for folder in places.values():
        folder.mkdir()
    with ftpd("ftp", places["ftp"], authority) as server:
        async with sshd(places["sftp"]) as ssh:
            shelves = {
                "s3": bucket(s3, places["s3"]),
                "ftp": on_ftp("ftp", server.port, places["ftp"]),
                "sftp": on_sftp(ssh, places["sftp"]),
            }
            for source, shelf in shelves.items():
                for n in range(_FILES):
                    await shelf.put(f"{n}.csv", _file(source, str(n), _ROWS))
            async with rigged(dsn, tmp_path, shelves) as rig:
                await _kill_scans(rig, shelves)
                for source, shelf in shelves.items():
                    await _kill_fetch(rig, source, shelf)
                assert await rig.settled(await rig.scan(*shelves)) == [0, 0, 0]
                await _assert_once(rig, shelves)


async def _kill_scans(rig: Rig, shelves: dict[str, Shelf]) -> None:
    await rig.conn.execute(_STOP)
    async with asyncio.timeout(120), Watch(rig.watch.dsn) as gate:
        await gate.one("select pg_advisory_lock($1)", _GATE)
        scans = await rig.scan(*shelves)
        await rig.watch.until("a scan stands in the middle", _STOPPED, _GATE)
        rig.kill()
    assert await rig.watch.one("select count(*) from forebay.sheet") < _FILES * len(shelves)
    await rig.settled(scans)
    assert await rig.watch.one("select count(*) from forebay.sheet") == _FILES * len(shelves)


async def _kill_fetch(rig: Rig, source: str, shelf: Shelf) -> None:
    await shelf.put("large.csv", _file(source, "large", _LARGE, "x" * 100_000))
    before = rig.spools()
    scans = await rig.scan(source)
    await rig.fetching(before)
    rig.kill()
    await rig.settled(scans)
    expired = await rig.watch.one(
        """select count(*) from forebay.attempt a join forebay.step s on s.id = a.step_id
               join forebay.intake_file h on h.intake_job_id = a.job_id
           where s.name = 'receive' and a.outcome = 'EXPIRED' and h.source = $1 and h.path like '%large.csv'""",
        source,
    )
    assert expired, source  # more than once when the machine is so busy that a lease ends by itself


async def _assert_once(rig: Rig, shelves: dict[str, Shelf]) -> None:
    found = await rig.watch.fetch("select input #>> '{row,Name}' from forebay.item where input ? 'row' order by 1")
    sizes = {**{str(n): _ROWS for n in range(_FILES)}, "large": _LARGE}
    expected = (f"{source} {name} {n}" for source in shelves for name, rows in sizes.items() for n in range(rows))
    assert sorted(row[0] for row in found) == sorted(expected)
    problems = await rig.watch.fetch("select name, problem from forebay.sheet where problem is not null")
    assert [tuple(row) for row in problems] == []
