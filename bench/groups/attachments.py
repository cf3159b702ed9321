"""Attachments: how long a webhook of Lark takes while the files of the approvals before it are downloaded."""

# demands: S3-07, S3-09

import asyncio
import time
from collections import deque

import asyncpg

from bench.harness import BenchError, Context, connected
from bench.http_client import Client
from bench.limits import CREATE, CREATE_READY
from bench.measure import percentile
from bench.serving import served
from bench.steadily import RATE, raw_inserts, registered, timed, worker
from tests.pipelines.attachments._fake_lark import APP, SECRET, FakeLark, fake_lark
from tests.pipelines.attachments._world import KEY, approval, signed
from tests.pipelines.attachments.test_faults import PLANS

OWNER = "caller"
PATH = "/api/attachments/hooks/lark"

_STATES = "select status, count(*) from forebay.attachment group by status"
_OPEN = "select count(*) from forebay.attachment_instance where voucher = 'WAITING'"


async def run(context: Context) -> None:
    ours = context.ours
    if not ours:
        return
    count = context.sizes.approvals
    fake, expected = _approvals(count)
    dsn = await context.database(ours)
    await ours.api_token(dsn, OWNER)
    async with connected(dsn) as conn:
        await conn.execute(f"{CREATE}; {CREATE_READY}")
    async with fake_lark(fake):
        environment = ours.api_environment(dsn) | _settings(context, fake)
        async with served(context, ours.api_command(), environment) as (port, _), connected(dsn) as raw:
            with worker(context, environment, "attachments"):
                await registered(raw, "attachments")
                await _measure(context, port, raw, count)
                await _verify(raw, fake, expected)


def _approvals(count: int) -> tuple[FakeLark, dict[str, str]]:
    fake, expected = FakeLark(rate=1000, quota=1_000_000, token_uses=200, clock=time.monotonic), dict[str, str]()
    for at in range(count):
        names = [f"{each}-{at}.pdf" for each in "abc"]
        fake.put(f"A-{at}", *names)
        for which, name in enumerate(names):
            faults, expected[name] = PLANS[(at * 3 + which) % len(PLANS)]
            fake.faults[f"A-{at}/{name}"] = deque(faults)
    return fake, expected


def _settings(context: Context, fake: FakeLark) -> dict[str, str]:
    own = {
        "LARK_APP_ID": APP, "LARK_APP_SECRET": SECRET, "LARK_ENCRYPT_KEY": KEY, "LARK_OWNER": OWNER,
        "LARK_URL": fake.url, "LARK_RATE": "500", "LARK_DAILY_QUOTA": "1000000",
    }  # fmt: skip
    return {
        **{f"FOREBAY_ATTACHMENTS_{name}": value for name, value in own.items()},
        "FOREBAY_PIPELINES": "forebay.pipelines",
        "FOREBAY_DATA_DIR": str(context.folder / "attachments"),
    }


async def _measure(context: Context, port: int, conn: asyncpg.Connection, count: int) -> None:
    requests = [signed(approval(f"A-{at}")) for at in range(count)]
    async with Client(port) as http:
        body, headers = signed({"uuid": "warm", "event": {}})
        await http.send(PATH, headers, body)
    async with Client(port) as http:

        async def announce(seq: int) -> None:
            body, headers = requests[seq]
            await http.send(PATH, headers, body)

        waits, raw = await asyncio.gather(timed(count, announce), raw_inserts(conn, count))
    left = await conn.fetchval(_OPEN)
    note = f"{count} approvals at {RATE:g}/s while files were downloaded, {left} left in the end; "
    note += f"p50 {percentile(waits, 0.5):.1f} ms, raw {percentile(raw, 0.5):.1f} ms"
    context.record("attachment_webhook_p99", percentile(waits, 0.99), percentile(raw, 0.99), note)


async def _verify(conn: asyncpg.Connection, fake: FakeLark, expected: dict[str, str]) -> None:
    while await conn.fetchval(_OPEN):  # noqa: ASYNC110 - the worker is another process
        await asyncio.sleep(0.2)
    found = {row["status"]: row["count"] for row in await conn.fetch(_STATES)}
    wanted = {state: list(expected.values()).count(state) for state in ("DOWNLOADED", "FAILED")}
    if found != wanted or fake.wrong:
        raise BenchError(f"the files ended as {found} instead of {wanted}; Lark did not forgive {fake.wrong[:3]}")
