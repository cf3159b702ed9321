"""The cost of the hot statements, by their plans: only index scans, no sorting of backlogs, the same at any size."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from tests.sql._db import START, Db, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests._servers import Server

_LARGE = ("ready", "scheduled", "item", "job", "lease", "attempt", "waiting", "kept_signal", "ordered_task")
_LANES = 200

Plan = dict[str, Any]

# Lanes 1 … 200 of 100 owners, 5,000 jobs of 10 items; every fourth job runs, every tenth is paused, half of them wait.
_FILL = """
insert into forebay.owner (name) select 'owner ' || g from generate_series(1, 100) g;
insert into forebay.lane (owner_id, priority) select g % 100 + 1, g / 100 from generate_series(0, 199) g;
insert into forebay.job (owner_id, pipeline_id, state, steps, lane_id, total)
select g % 100 + 1, 1, case when g % 4 = 0 then 'RUNNING' else 'QUEUED' end::forebay.job_state, 3, g % 200 + 1, 10
from generate_series(0, 4999) g;
insert into forebay.item (job_id, n, owner_id, pipeline_id, input)
select j.id, n, j.owner_id, 1, '{"url": "https://example.org"}' from forebay.job j, generate_series(1, 10) n;
insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
select 1, j.lane_id, j.id, j.owner_id, n, n from forebay.job j, generate_series(1, 4) n;
insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
select '2030-01-01 12:00Z'::timestamptz + (j.id % 1000 - 100) * interval '1 minute',
       1, j.lane_id, j.id, j.owner_id, n, n, 1
from forebay.job j, generate_series(5, 8) n;
insert into forebay.lease (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
select 1, j.lane_id, j.id, j.owner_id, 1, 1, '2030-01-01 11:59Z',
       '2030-01-01 12:01Z'::timestamptz - case when j.id % 50 = 0 then interval '5 minutes' else interval '0' end,
       '{[9,10]}'
from forebay.job j where j.id % 5 = 0;
insert into forebay.attempt (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at)
select j.id, n, 1, 1, 'EXPIRED', j.owner_id, 1, 0, '2030-01-01 11:00Z', '2030-01-01 11:00Z'
from forebay.job j, generate_series(5, 10) n;
insert into forebay.worker (name, started_at, seen_at) select 'w', now(), now() from generate_series(1, 3);
"""


class Explained:
    """The plans of all statements inside functions, as auto_explain reports them."""

    def __init__(self, db: Db) -> None:
        self.db = db
        self.plans: list[Plan] = []

    async def begin(self) -> None:
        self.db.conn.add_log_listener(self._hear)
        await self.db.execute("load 'auto_explain'")
        for name, value in {
            "log_min_duration": "0",
            "log_nested_statements": "on",
            "log_level": "notice",
            "log_format": "json",
            "log_analyze": "on",
            "log_buffers": "on",
            "log_timing": "off",
        }.items():
            await self.db.execute(f"set auto_explain.{name} = {value}")

    async def end(self) -> None:
        self.db.conn.remove_log_listener(self._hear)
        await self.db.conn.close()

    def _hear(self, _conn: object, message: asyncpg.PostgresLogMessage) -> None:
        text = str(message.message)
        if "plan:" in text:
            self.plans.append(json.loads(text.partition("plan:")[2]))

    async def of(self, sql: str, *args: object) -> list[Plan]:
        """Run a statement and roll it back; return the plans of the statements inside it."""
        transaction = self.db.conn.transaction()
        await transaction.start()
        self.plans.clear()
        try:
            await self.db.fetch(sql, *args)
        finally:
            await transaction.rollback()
        await asyncio.sleep(0)  # the listener is called by the event loop
        return [plan for plan in self.plans if plan["Query Text"] != sql]

    async def buffers(self, sql: str, *args: object) -> int:
        """How many pages a statement touches with a warm cache."""
        await self.of(sql, *args)
        return sum(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
                   for plan in await self.of(sql, *args))  # fmt: skip


async def _fill(dsn: str) -> None:
    conn = await asyncpg.connect(dsn)
    await Db(conn, dsn).register(step("fetch"), step("store", "fetch"))
    await conn.execute(_FILL)
    await conn.execute("vacuum (analyze)")
    await conn.close()


@pytest.fixture(scope="session")
def filled(server: Server, _template: str) -> str:
    """A template of realistic size, with known statistics."""
    return server.template("forebay_plans", _fill, base=_template)


@asynccontextmanager
async def explaining(server: Server, template: str) -> AsyncIterator[Explained]:
    """The plans of statements in a copy of the template."""
    with server.database(template=template) as dsn:
        explained = Explained(Db(await asyncpg.connect(dsn), dsn))
        await explained.begin()
        yield explained
        await explained.end()


@pytest.fixture
async def explained(server: Server, filled: str) -> AsyncIterator[Explained]:
    async with explaining(server, filled) as explained:
        yield explained


def _nodes(node: Plan, *above: Plan) -> Iterator[tuple[Plan, tuple[Plan, ...]]]:
    """A plan's nodes, each with those above it, the nearest first."""
    yield node, above
    for child in node.get("Plans", []):
        yield from _nodes(child, node, *above)


def _reads(node: Plan, table: str) -> bool:
    name = node.get("Relation Name", "")
    return bool(name == table or (table == "attempt" and name.startswith("attempt_")))


def assert_indexed(plans: list[Plan], *, allowed: tuple[str, ...] = ()) -> None:
    """No statement reads a large table completely."""
    assert plans
    scans = [
        (node["Relation Name"], plan["Query Text"][:300])
        for plan in plans
        for node, _ in _nodes(plan["Plan"])
        if node["Node Type"] == "Seq Scan" and any(_reads(node, table) for table in _LARGE if table not in allowed)
    ]
    assert scans == []


def _with(plans: list[Plan], table: str, *kinds: str) -> list[tuple[Plan, tuple[Plan, ...]]]:
    return [
        (node, above)
        for plan in plans
        for node, above in _nodes(plan["Plan"])
        if _reads(node, table) and node["Node Type"] in kinds
    ]


def _claim(lanes: list[int], quota: int = 100, *, heads: int = 0) -> tuple[Any, ...]:
    size = len(lanes)
    return (
        "select * from forebay.claim(1, $1, $2, $3, $4, $5, '{}', 60, $6)",
        [1] * size,
        lanes,
        [heads] * size,
        [max(1, quota // size)] * size,
        [max(1, quota // size)] * size,
        START,
    )


@pytest.mark.parametrize("lanes", [1, 64])
async def test_claim(explained: Explained, lanes: int) -> None:
    plans = await explained.of(*_claim(list(range(1, lanes + 1))))
    assert_indexed(plans)
    locked = [
        (node, [parent["Node Type"] for parent in above])
        for node, above in _with(plans, "ready", "Index Scan")
        if any(parent["Node Type"] == "LockRows" for parent in above)
    ]
    assert sum(node["Actual Loops"] for node, _ in locked) == lanes
    for node, above in locked:
        assert node["Index Name"] == "ready_pkey"
        assert not [kind for kind in above[: above.index("Limit")] if "Sort" in kind]
        assert node["Actual Rows"] <= 100 / lanes + 1


async def test_claim_sorts_only_what_it_takes(explained: Explained) -> None:
    plans = await explained.of(*_claim([1]))
    sorts = [node for plan in plans for node, _ in _nodes(plan["Plan"]) if "Sort" in node["Node Type"]]
    assert [node["Actual Rows"] for node in sorts if node["Actual Rows"] * node["Actual Loops"] > 100] == []


def _settle(tokens: list[int], ns: list[int]) -> tuple[Any, ...]:
    return (
        "select * from forebay.settle(1, $1, $2, '{}', '{}', $3, '{}', '{}', '{}', '{}', '{}', $4)",
        tokens,
        ns,
        [START.timestamp()] * len(tokens),
        START,
    )


async def test_settle(explained: Explained) -> None:
    found = await explained.db.fetch("select token from forebay.lease order by token limit 300")
    plans = await explained.of(*_settle([row["token"] for row in found], [9] * len(found)))
    assert_indexed(plans)
    assert _with(plans, "item", "Index Scan", "Bitmap Heap Scan")
    # It reads the items that it was given, and no others.
    for table, at_most in (("item", 310), ("job", 1000), ("lease", 1000)):
        for node, _ in _with(plans, table, "Index Scan", "Index Only Scan", "Bitmap Heap Scan"):
            assert node["Actual Rows"] * node["Actual Loops"] <= at_most, (table, node)


async def test_a_settle_and_a_claim_take_as_many_statements_for_many_tasks_as_for_one(explained: Explained) -> None:
    """The functions that they call are part of their statements: a call of its own for each task costs too much."""
    found = await explained.db.fetch("select token from forebay.lease order by token limit 300")
    tokens = [row["token"] for row in found]
    lanes = list(range(1, 65))
    settles = (_settle(tokens, [9] * 300), _settle(tokens[:1], [9]))
    claims = (_claim([1], 100), _claim([1], 9), _claim(lanes, 64), _claim(lanes, 640))
    for call in settles + claims:
        await explained.of(*call)  # the driver reads the types of their columns
    assert len({len(await explained.of(*call)) for call in settles}) == 1
    assert len({len(await explained.of(*call)) for call in claims}) == 1


async def test_a_settle_visits_the_rows_of_a_task_once_in_one_order(explained: Explained) -> None:
    """Leases whose tasks are all reported are deleted without being locked before, and jobs are updated so. Both in the
    order of their numbers, by an index or a nested loop over sorted rows, so that two settles never wait for each
    other."""
    found = await explained.db.fetch("select token from forebay.lease order by token limit 300")
    tokens = [row["token"] for row in found for _ in "ab"]
    plans = await explained.of(*_settle(tokens, [9, 10] * 300))
    deleted, updated = [
        next(child for child in node["Plans"] if child["Parent Relationship"] == "Outer")
        for verb, table in (("Delete", "lease"), ("Update", "job"))
        for plan in plans
        for node, _ in _nodes(plan["Plan"])
        if node.get("Operation") == verb and node["Relation Name"] == table
    ]
    (scan,) = deleted["Plans"]  # after a condition for all
    assert (deleted["Node Type"], scan["Node Type"], scan["Index Name"]) == ("Result", "Index Scan", "lease_pkey")
    assert scan["Actual Rows"] == 300
    assert (updated["Node Type"], updated["Actual Rows"]) == ("Nested Loop", 300)
    assert updated["Plans"][1]["Index Name"] == "job_pkey"
    locked = [node for plan in plans for node, _ in _nodes(plan["Plan"]) if node["Node Type"] == "LockRows"]
    assert [node["Actual Rows"] for node in locked] == [0, 0]


async def test_a_settle_that_was_planned_when_there_were_no_leases_compares_no_report_with_each_lease(
    explained: Explained,
) -> None:
    db = explained.db
    await db.execute("create temporary table kept as select * from forebay.lease order by token limit 300")
    await db.execute("delete from forebay.lease")
    await db.execute("vacuum (analyze) forebay.lease")
    await db.fetch(*_settle([1], [9]))
    await db.execute("insert into forebay.lease select * from kept")
    tokens = [row["token"] for row in await db.fetch("select token from kept") for _ in "ab"]
    plans = await explained.of(*_settle(tokens, [9, 10] * 300))
    removed = [node.get("Rows Removed by Join Filter", 0) for plan in plans for node, _ in _nodes(plan["Plan"])]
    read = [node["Actual Rows"] * node["Actual Loops"] for plan in plans for node, _ in _nodes(plan["Plan"])]
    assert (max(removed), max(read)) <= (300, 600)


async def test_hold_tasks(explained: Explained) -> None:
    tokens = [
        row["token"] for row in await explained.db.fetch("select token from forebay.lease order by token limit 300")
    ]
    plans = await explained.of("select * from forebay.hold_tasks($1, $2)", tokens, [9] * len(tokens))
    assert_indexed(plans)
    for table, at_most in (("item", 310), ("job", 0), ("lease", 1000)):
        for node, _ in _with(plans, table, "Index Scan", "Index Only Scan", "Bitmap Heap Scan"):
            assert node["Actual Rows"] * node["Actual Loops"] <= at_most, (table, node)


async def test_a_cancel_reads_nothing_of_what_else_its_owner_has_queued(explained: Explained) -> None:
    plans = await explained.of("select forebay.cancel(1, now => $1)", START)
    assert_indexed(plans)
    assert _ready_rows(plans) == 0


@pytest.mark.parametrize(
    "verb",
    ["cancel($1::bigint)", "pause($1::bigint)", "first_open(j) from forebay.job j where j.id = $1"],
    ids=["cancel", "pause", "first_open"],
)
async def test_the_lane_of_a_job_is_found_without_reading_those_of_others(explained: Explained, verb: str) -> None:
    await explained.db.execute("set plan_cache_mode = force_generic_plan")
    plans = await explained.of(f"select forebay.{verb}", 1)
    used = {node.get("Index Name") for node, _ in _with(plans, "lane", "Index Scan", "Index Only Scan")}
    assert used <= {"lane_job", "lane_pkey", "lane_of_key"}
    for node, _ in _with(plans, "lane", "Index Scan", "Index Only Scan", "Bitmap Heap Scan"):
        if node.get("Index Name") == "lane_of_key":
            assert "owner_id" in node["Index Cond"], node


@pytest.mark.parametrize("verb", ["pause_item", "cancel_item"])
async def test_a_verb_for_one_item_finds_its_run_without_reading_the_lane(explained: Explained, verb: str) -> None:
    """What was queued before it, or after it, costs nothing."""
    db = explained.db
    await db.fetch(_SINGLES, 2000, START)
    await db.execute("vacuum (analyze) forebay.ready")
    middle = await db.one("select max(id) - 1000 from forebay.job")
    plans = await explained.of(f"select forebay.{verb}($1, 1, now => $2)", middle, START)
    assert_indexed(plans)
    assert 1 <= _ready_rows(plans) <= 5


async def test_a_verb_for_one_item_finds_its_run_in_the_lane_of_a_key_without_reading_that_of_the_owner(
    explained: Explained,
) -> None:
    db = explained.db
    await db.fetch(_SINGLES, 2000, START)
    first = await db.one("select min(id) from (select id from forebay.job order by id desc limit 2000) j")
    await db.execute(
        """insert into forebay.lane (owner_id, limit_name, limit_key)
           select j.owner_id, 'host', g::text from forebay.job j, generate_series(1, 5) g where j.id = $1""",
        first,
    )
    last_lane = "(select max(id) from forebay.lane)"
    await db.execute(f"update forebay.ready set lane_id = {last_lane} where job_id = $1", first)
    await db.execute("vacuum (analyze) forebay.ready")
    plans = await explained.of("select forebay.cancel_item($1, 1, now => $2)", first, START)
    assert_indexed(plans)
    assert 1 <= _ready_rows(plans) <= 110


async def test_a_change_of_version_reads_only_what_comes_after_its_jobs_and_wakes_each_lane_once(
    explained: Explained,
) -> None:
    db = explained.db
    await db.fetch(_SINGLES, 1000, START)
    await db.execute(
        """insert into forebay.lane (owner_id, limit_name, limit_key)
           select o.id, 'host', g::text from forebay.owner o, generate_series(1, 100) g where o.name = 'ann';
           insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
           select s.id, l.id, j.id, j.owner_id, 2, 2 from forebay.lane l, forebay.step s,
                (select * from forebay.job order by id desc limit 1) j
           where l.limit_name <> '' and s.name = 'store'"""
    )
    await db.register(step("download"), step("store", "download"))
    await db.execute("vacuum (analyze) forebay.ready")
    last = "array(select j.id from forebay.job j order by j.id desc offset 20 limit 10)"
    old = "(select coalesce(j.version_id, -j.pipeline_id) from forebay.job j order by j.id desc limit 1)"
    new = "(select p.version_id from forebay.pipeline p where p.name = 'p')"
    plans = await explained.of(f"select forebay.change_version({last}, {old}, {new}, $1)", START)
    assert_indexed(plans)
    # those of the jobs, of the twenty after them and of the lanes of keys; and those of the jobs when they are deleted
    assert _ready_rows(plans) <= 30 + 100 + 10
    assert sum("pg_notify" in plan["Query Text"] for plan in plans) == 1


async def test_the_deletion_of_jobs_of_one_item_takes_as_many_statements_for_many_as_for_one(
    explained: Explained,
) -> None:
    db = explained.db
    delete = "select forebay.delete_finished($1, max_jobs => $2, but_pipelines => '{}')"
    await db.fetch(_SINGLES, 300, START)
    await db.execute("update forebay.job set finished_at = $1, state = 'DONE' where total = 1", START)
    later = START + timedelta(days=31)
    one, many = await explained.of(delete, later, 1), await explained.of(delete, later, 300)
    assert_indexed(many)
    assert len(many) <= len(one)
    assert await db.one(delete, later, 300) == 600
    assert await db.one("select count(*) from forebay.job where total = 1") == 0


_SINGLES = """
select count(*) from (select forebay.submit('p', '{}', 'ann', now => $2) from generate_series(1, $1::int)) s
"""


async def _settle_singles(explained: Explained, jobs: int, *, items: int = 1, outcome: str = "DONE") -> list[Plan]:
    """The plans of settling the first item of that many jobs in one batch."""
    db = explained.db
    await db.execute("delete from forebay.ready; delete from forebay.lease")
    if items == 1:
        await db.fetch(_SINGLES, jobs, START)
    else:
        many = "select forebay.submit_many('p', $2, 'ann', now => $3) from generate_series(1, $1::int)"
        await db.fetch(many, jobs, ["{}"] * items, START)
    leases = await db.fetch(
        "select * from forebay.claim(1, $1, $2, '{0}', $3, $3, '{}', 60, $4)",
        [1], [await db.one("select max(lane_id) from forebay.ready")], [jobs * items], START,
    )  # fmt: skip
    assert len(leases) == jobs
    failed = outcome != "DONE"
    return await explained.of(
        "select * from forebay.settle(1, $1, $2, $3, '{}', $4, $5, $6, '{}', '{}', '{}', $7)",
        [lease["token"] for lease in leases],
        [1] * jobs,
        [outcome] * jobs,
        [START.timestamp()] * jobs,
        [START + timedelta(minutes=1)] * jobs if failed else [],
        [True] * jobs if failed else [],
        START,
    )


def _walked_again(plans: list[Plan]) -> list[tuple[str, float]]:
    """The batch read once for each of something else: the inner side of a nested loop."""
    return [
        (node.get("CTE Name") or node["Node Type"], node["Actual Loops"])
        for plan in plans
        for node, above in _nodes(plan["Plan"])
        if node["Node Type"] in ("CTE Scan", "Function Scan", "Materialize")
        and above
        and above[0]["Node Type"] == "Nested Loop"
        and node["Parent Relationship"] == "Inner"
        and node["Actual Loops"] > 10
        and node["Actual Rows"] > 10
    ]


@pytest.mark.parametrize(
    ("known", "items", "outcome"), [(True, 1, "DONE"), (False, 1, "DONE"), (True, 1, "ERROR"), (True, 2, "DONE")]
)
async def test_settling_many_jobs_costs_no_more_for_each_of_them(
    explained: Explained, known: bool, items: int, outcome: str
) -> None:
    """One-item jobs are a lease each: a batch of them must not be compared with itself."""
    if not known:  # as in a database of which nobody has seen more than a few rows
        await explained.db.execute(
            "truncate forebay.job, forebay.item, forebay.ready, forebay.lease, forebay.scheduled"
        )
        await explained.db.execute("vacuum (analyze)")
    few = await _settle_singles(explained, 10, items=items, outcome=outcome)
    many = await _settle_singles(explained, 5000, items=items, outcome=outcome)
    assert_indexed(many)
    assert _walked_again(many) == []
    assert _work(many) < 1.2 * 500 * _work(few)


async def test_wait_for_limits(explained: Explained) -> None:
    """Tasks of a hundred leases, of two keys; the cost depends on them only."""
    tokens = [
        row["token"] for row in await explained.db.fetch("select token from forebay.lease order by token limit 100")
    ]
    places = await explained.db.fetch("select nextval('forebay.seq') as seq from generate_series(1, 100)")
    await explained.db.execute("analyze forebay.lane")
    plans = await explained.of(
        "select * from forebay.wait_for_limits(1, $1, $2, $3, $4, $5)",
        tokens,
        [9] * 100,
        [row["seq"] for row in places],
        ["site"] * 100,
        ["a", "b"] * 50,
    )
    assert_indexed(plans)
    read = sum(node["Actual Rows"] * node["Actual Loops"] for node, _ in _with(plans, "lease", "Index Scan"))
    assert read <= 500  # of a thousand, each a few times


# The tasks in `scheduled` wait in order, behind a current one for each of a thousand keys; one key has a long line.
_ORDER = """
update forebay.step set ordered = true where id = 1;
update forebay.scheduled set run_at = forebay.waits_in_order();
insert into forebay.ordered_task (pipeline_id, bit, owner_id, key, job_id, n)
select 1, 1, s.owner_id, case when s.owner_id = 1 then 'one' else 'key ' || s.job_id % 1000 end, s.job_id, s.first_n
from forebay.scheduled s;
insert into forebay.ordered_task (pipeline_id, bit, owner_id, key, job_id, n, is_current)
select 1, 1, k.owner_id, k.key, -row_number() over (), 1, true
from (select distinct owner_id, key from forebay.ordered_task) k;
analyze forebay.ordered_task, forebay.scheduled, forebay.step
"""


async def test_take_unordered(explained: Explained) -> None:
    await explained.db.execute(_ORDER)
    plans = await explained.of("select * from forebay.take_unordered('{1,1}', '{1,2}', 50, true)")
    assert_indexed(plans)
    assert _rows(plans, "item") <= 2 * 100, "a hundred tasks of two owners"


async def test_order_tasks(explained: Explained) -> None:
    """Tasks of a hundred keys, new ones and some with a line; the cost depends on them only."""
    await explained.db.execute(_ORDER)
    rows = await explained.db.fetch(
        "select lane_id, job_id, first_n, owner_id from forebay.ready where step_id = 1 order by seq limit 100"
    )
    plans = await explained.of(
        "select * from forebay.order_tasks($1, $2, $3, $4, $5, $6, $7, $8)",
        [1] * 100,
        [row["lane_id"] for row in rows],
        [row["job_id"] for row in rows],
        [row["first_n"] for row in rows],
        [0] * 100,
        [row["owner_id"] for row in rows],
        ["one"] * 50 + [f"new {n}" for n in range(50)],
        [False] * 100,
    )
    assert_indexed(plans)
    assert _rows(plans, "ordered_task") <= 1000


@pytest.mark.parametrize("key", ["one", "key 5"])
async def test_end_ordered(explained: Explained, key: str) -> None:
    """The next task of a key is found at once, however many wait."""
    await explained.db.execute(_ORDER)
    plans = await explained.of(
        "select * from forebay.end_ordered("
        "array(select o from forebay.ordered_task o where o.key = $1 and o.is_current limit 1), $2)",
        key,
        START,
    )
    inside = [plan for plan in plans if "forebay.end_ordered" not in plan["Query Text"]]
    assert_indexed(inside)
    assert 1 <= _rows(inside, "ordered_task") <= 20
    assert 1 <= _rows(inside, "scheduled") <= 5


def _rows(plans: list[Plan], table: str) -> float:
    """How many rows of a table were read."""
    kinds = ("Index Scan", "Index Only Scan", "Tid Scan", "Seq Scan", "Bitmap Heap Scan")
    return float(sum(node["Actual Rows"] * node["Actual Loops"] for node, _ in _with(plans, table, *kinds)))


async def test_discover(explained: Explained) -> None:
    plans = await explained.of("select * from forebay.discover($1)", [1, 2])
    assert_indexed(plans)
    looked = sum(
        node["Actual Rows"] * node["Actual Loops"] for node, _ in _with(plans, "ready", "Index Scan", "Index Only Scan")
    )
    assert 0.9 * _LANES <= looked <= 1.1 * _LANES  # one row a lane, of twenty thousand; the plan tells rounded means


@pytest.mark.parametrize("after", [None, START - timedelta(seconds=1)])
async def test_promote(explained: Explained, after: object) -> None:
    plans = await explained.of(
        "select * from forebay.promote($1, after => coalesce($2::timestamptz, '-infinity'))", START, after
    )
    assert_indexed(plans)
    for _, above in _with(plans, "scheduled", "Index Scan"):
        assert not [parent for parent in above if "Sort" in parent["Node Type"]]


async def test_signal(explained: Explained) -> None:
    await explained.db.execute(
        "insert into forebay.waiting (job_id, n, bit, owner_id, name, key, expires_at) "
        "select s.job_id, s.first_n, 1, s.owner_id, 'paid', s.job_id || '-' || s.first_n, s.run_at "
        "from forebay.scheduled s;"
        "insert into forebay.kept_signal (owner_id, name, key, at, expires_at) "
        "select 1, 'sent', g::text, '2030-01-01', '2031-01-01' from generate_series(1, 5000) g;"
        "analyze forebay.waiting, forebay.kept_signal"
    )
    plans = await explained.of(
        "select forebay.signal('paid', '1-5', owner => (select name from forebay.owner where id = "
        "(select owner_id from forebay.job where id = 1)), now => $1)",
        START,
    )
    assert_indexed(plans)
    found = [node["Actual Rows"] for node, _ in _with(plans, "scheduled", "Index Scan")]
    assert found == [1]
    assert_indexed(await explained.of("select forebay.sweep_signals($1)", START))
    kept = "select forebay.signal('kept', 'a', owner => (select name from forebay.owner where id = 1), now => $1)"
    assert_indexed(await explained.of(kept, START))


async def test_heartbeat(explained: Explained) -> None:
    tokens = [row["token"] for row in await explained.db.fetch("select token from forebay.lease limit 100")]
    assert_indexed(
        await explained.of("select * from forebay.heartbeat(1, $1, $2, $3)", tokens, [60.0] * len(tokens), START)
    )


async def test_expire(explained: Explained) -> None:
    """Leases are few, so that a search for expired ones may read all of them."""
    plans = await explained.of("select * from forebay.expire($1)", START)
    assert_indexed(plans, allowed=("lease",))
    assert _with(plans, "item", "Index Scan", "Bitmap Heap Scan")


async def test_expire_at_the_watermark_does_not_walk_over_leases_that_have_ended(explained: Explained) -> None:
    """A long transaction keeps 20,000 dead leases in the index: a search from the lowest living one does not read
    them."""
    db = explained.db
    more = """
    insert into forebay.lease
        (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
    select (select max(token) from forebay.lease) + g, 1, 1, 1, 1, 1, 1, $2, $2::timestamptz + interval '1 minute',
           '{[1,1]}'
    from generate_series(1, $1::int) g"""
    await db.execute("alter table forebay.lease set (autovacuum_enabled = off)")
    report = await asyncpg.connect(db.dsn)
    try:
        await report.execute("begin isolation level repeatable read; select count(*) from forebay.job")
        await db.execute(more, 20_000, START)
        await db.execute("delete from forebay.lease where token < (select max(token) from forebay.lease)")
        lowest = int(await db.one("select min(token) from forebay.lease"))
        expire = "select * from forebay.expire($1, first_token => $2)"
        known, whole = [await explained.buffers(expire, START, token) for token in (lowest, 0)]
        assert known * 20 < whole
    finally:
        await report.close()


async def test_a_look_at_no_leases_does_not_walk_over_those_that_have_ended(explained: Explained) -> None:
    """The same of the sweep's look while there is no lease: the next look begins at the time of this one."""
    db, look = explained.db, "select * from forebay.look_at_leases($1, true, $2)"
    await db.execute("alter table forebay.lease set (autovacuum_enabled = off)")
    report = await asyncpg.connect(db.dsn)
    try:
        await report.execute("begin isolation level repeatable read; select count(*) from forebay.job")
        await db.execute(
            """insert into forebay.lease
                   (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
               select g, 1, 1, 1, 1, 1, 1, $1, $1, '{[1,1]}' from generate_series(10000, 30000) g""",
            START,
        )
        await db.execute("delete from forebay.lease")
        first = await db.conn.fetchrow(look, 0, START)
        assert first is not None
        assert not first["has_expired"]
        known, whole = [await explained.buffers(look, token, START) for token in (first["lowest_token"], 0)]
        assert known * 10 < whole
        assert first["lowest_token"] < await db.one("select forebay.next_token()")  # the next claims are looked at
    finally:
        await report.close()


async def test_release(explained: Explained) -> None:
    tokens = [row["token"] for row in await explained.db.fetch("select token from forebay.lease limit 100")]
    assert_indexed(await explained.of("select forebay.release(1, $1, $2)", tokens, START))


@pytest.mark.parametrize(
    "options",
    [
        "",
        ", key => 'a'",
        ", key => 'a', unique_states => '{QUEUED}', unique_period => interval '1 hour'",
        ", key => 'b', \"coalesce\" => true",
        ", run_at => '2030-02-01'",
    ],
)
async def test_submit(explained: Explained, options: str) -> None:
    assert_indexed(
        await explained.of(f"select * from forebay.submit('p', '{{}}', 'owner 7'{options}, now => $1)", START)
    )


async def test_a_job_of_one_item_without_a_key_takes_one_look_and_one_statement_for_each_row(
    explained: Explained,
) -> None:
    """Each statement of a function costs as much as a row; one statement with a part for each row begins slowly."""
    submit = "select * from forebay.submit('p', '{}', 'owner 7', meta => '{}', now => $1)"
    await explained.db.fetch(submit, START)  # the first one makes the lane
    assert len(await explained.of(submit, START)) == 4  # one look; job, item and ready task
    constraints = """select conname from pg_constraint where contype = 'c' and conrelid = any(
        array['forebay.job', 'forebay.item', 'forebay.ready']::regclass[])"""
    assert await explained.db.fetch(constraints) == [], "an INSERT parses and plans each check anew"


async def test_submit_again_to_coalesce(explained: Explained) -> None:
    submit = "select * from forebay.submit('p', '{}', 'owner 7', key => 'b', \"coalesce\" => true, now => $1)"
    await explained.db.fetch(submit, START)
    assert_indexed(await explained.of(submit, START))


async def test_submit_many(explained: Explained) -> None:
    inputs = "array_fill('{}'::jsonb, array[2000])"
    assert_indexed(await explained.of(f"select * from forebay.submit_many('p', {inputs}, 'owner 7', now => $1)", START))


async def test_submit_jobs_with_keys(explained: Explained) -> None:
    keys = "array(select 'key ' || g from generate_series(1, 100) g)"
    submit = (
        f"select * from forebay.submit_jobs('p', array_fill('{{}}'::jsonb, array[100]), 'owner 7', {keys}, "
        "now => $1, unique_states => '{QUEUED}')"
    )
    await explained.db.fetch(submit, START)
    assert_indexed(await explained.of(submit, START))


async def test_submit_jobs_without_keys(explained: Explained) -> None:
    submit = "select * from forebay.submit_jobs('p', array_fill('{}'::jsonb, array[100]), 'owner 7', now => $1)"
    await explained.db.fetch(submit, START)  # the first one makes the lane
    assert_indexed(await explained.of(submit, START))


# -- the same at any size -------------------------------------------------------------------------------------------

_MORE = """insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
           select 1, 1, (g % 25) * 200 + 1, 1, g, g from generate_series(1, $1::int) g"""


async def test_a_claim_costs_the_same_behind_any_backlog(explained: Explained) -> None:
    db = explained.db
    await db.execute("delete from forebay.ready")
    await db.execute(_MORE, 1000)
    await db.execute("vacuum (analyze) forebay.ready")
    short = await explained.buffers(*_claim([1]))
    await db.execute(_MORE, 49_000)
    await db.execute("vacuum (analyze) forebay.ready")
    long = await explained.buffers(*_claim([1]))
    assert short / 2 <= long <= short * 2


async def test_a_claim_costs_the_same_beside_paused_and_future_work(explained: Explained) -> None:
    db = explained.db
    await db.execute("delete from forebay.ready; delete from forebay.scheduled")
    await db.execute(_MORE, 1000)
    await db.execute("vacuum (analyze)")
    alone = await explained.buffers(*_claim([1]))
    await db.execute(
        """insert into forebay.lane (owner_id, job_id, priority, paused) values (1, 1, 0, true);
           insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
           select 1, (select max(id) from forebay.lane), 1, 1, g, g from generate_series(1, 20000) g;
           insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
           select '2030-02-01', 1, 1, 1, 1, g, g from generate_series(1, 20000) g"""
    )
    await db.execute("vacuum (analyze)")
    beside = await explained.buffers(*_claim([1]))
    assert alone / 2 <= beside <= alone * 2


async def test_a_claim_at_the_watermark_does_not_walk_over_what_was_used_up(explained: Explained) -> None:
    """A long transaction keeps 20,000 dead rows in the index: a claim from the watermark does not read them."""
    db = explained.db
    await db.execute("delete from forebay.ready; delete from forebay.scheduled")
    await db.execute("vacuum (analyze) forebay.ready")
    await db.execute(_MORE, 1000)
    clean = await explained.buffers(*_claim([1]))
    report = await asyncpg.connect(db.dsn)
    try:
        await report.execute("begin isolation level repeatable read; select count(*) from forebay.job")
        await db.execute(_MORE, 20_000)
        head = int(await db.one("select max(seq) from forebay.ready"))
        await db.execute("delete from forebay.ready where lane_id = 1")
        await db.execute(_MORE, 1000)
        await db.execute("vacuum (analyze) forebay.ready")
        known = await explained.buffers(*_claim([1], heads=head))
        assert known <= clean * 2
        assert await explained.buffers(*_claim([1])) > known  # else the dead rows were not there
    finally:
        await report.close()


def _ready_rows(plans: list[Plan]) -> float:
    """How many runs were read, by all statements together."""
    looked_at: float = sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node, _ in _with(plans, "ready", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan")
    )
    return looked_at


async def _empty_queue(db: Db) -> None:
    await db.execute("delete from forebay.ready; delete from forebay.scheduled")
    await db.execute("alter table forebay.ready set (autovacuum_enabled = off)")
    await db.execute("vacuum (analyze) forebay.ready")


@pytest.mark.parametrize("quota", [8, 16, 100])
async def test_a_claim_reads_the_runs_that_it_takes_and_no_others(explained: Explained, quota: int) -> None:
    """Regardless of the number of live runs behind them, and of dead ones below the watermark that an idle transaction
    keeps. The statistics are from a time when almost nothing was ready, as is common for a queue."""
    db = explained.db
    await _empty_queue(db)
    await db.execute(_MORE, 2 * quota)
    clean = await explained.buffers(*_claim([1], quota))
    report = await asyncpg.connect(db.dsn)
    try:
        await report.execute("begin isolation level repeatable read; select count(*) from forebay.job")
        await db.execute(_MORE, 6000)
        head = int(await db.one("select max(seq) from forebay.ready"))
        await db.execute("delete from forebay.ready where lane_id = 1")
        await db.execute(_MORE, 6000)
        claim = _claim([1], quota, heads=head)
        assert _ready_rows(await explained.of(*claim)) <= 4 * quota
        assert await explained.buffers(*claim) <= clean * 1.5
    finally:
        await report.close()


async def test_a_claim_sets_aside_what_is_paused_without_reading_the_lane(explained: Explained) -> None:
    db = explained.db
    await _empty_queue(db)
    await db.execute(_MORE, 6000)
    await db.execute("update forebay.job set state = 'PAUSED' where id = 1")
    await db.execute("insert into forebay.lane (owner_id, job_id, priority, paused) values (1, 1, 0, true)")
    plans = await explained.of(*_claim([1], 100))
    assert _ready_rows(plans) <= 600
    assert [node["Actual Rows"] for node, _ in _with(plans, "lane", "Seq Scan")] == []


_ITEMS = 6000


def _work(plans: list[Plan]) -> float:
    """The number of rows that all nodes processed together."""
    counts = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
    looked_at: float = sum(
        node["Actual Loops"] * sum(node.get(count, 0) for count in counts)
        for plan in plans
        for node, _ in _nodes(plan["Plan"])
    )
    return looked_at


@pytest.mark.parametrize("verb", ["cancel", "reprocess", "settle", "pause", "find_items"])
async def test_a_large_job_that_statistics_do_not_know_of_yet_costs_no_more_than_it_is_large(
    explained: Explained, verb: str
) -> None:
    """They say that jobs have one item: a plan that trusts them compares each item with each other."""
    db = explained.db
    await db.execute("delete from forebay.item where n > 1")
    await db.execute("vacuum analyze forebay.item")
    await db.execute("alter table forebay.item set (autovacuum_enabled = off)")
    job = await db.submit(_ITEMS)
    if verb == "cancel":
        plans = await explained.of("select forebay.cancel($1)", job)
    elif verb == "reprocess":
        await db.execute("update forebay.item set status = 'ERROR', verdict = 'ERROR', dead = 1 where job_id = $1", job)
        await db.execute(
            "update forebay.job set error = total, state = 'FAILED', finished_at = now() where id = $1", job
        )
        await db.execute("delete from forebay.ready where job_id = $1", job)
        await db.execute(
            """insert into forebay.dead_letter (job_id, n, step_id, owner_id, outcome, attempt, at)
               select i.job_id, i.n, 1, i.owner_id, 'ERROR', 1, now() from forebay.item i where i.job_id = $1""",
            job,
        )
        plans = await explained.of("select forebay.reprocess($1)", job)
    elif verb == "settle":
        lane = await db.one("select lane_id from forebay.job where id = $1", job)
        leases = await db.claim("fetch", 2000, lane=lane)
        tokens = [lease["token"] for lease in leases for _ in lease["ns"]]
        ns = [n for lease in leases for n in lease["ns"]]
        plans = await explained.of(
            "select * from forebay.settle_reports(1, $1, $2, $3, $4, '{}', '{}', '{}', '{}', '{}', '{}', now())",
            ",".join(map(str, tokens)), ",".join(map(str, ns)), ",".join(["0"] * len(ns)), chr(30).join([""] * len(ns)),
        )  # fmt: skip
    elif verb == "pause":
        plans = await explained.of("select forebay.pause($1)", job)
    else:
        plans = await explained.of("select * from forebay.find_items($1, 5000, '{DONE}', 100)", job)
        plans += await explained.of("select * from forebay.find_items_before($1, 5000, '{DONE}', 100)", job)
    assert plans
    assert _work(plans) < 60 * _ITEMS


async def test_why_a_task_waits_is_found_in_a_bounded_part_of_the_queue(explained: Explained) -> None:
    db = explained.db
    await db.fetch(_SINGLES, 2000, START)
    await db.execute("vacuum (analyze) forebay.ready")
    last = await db.one("select max(id) from forebay.job")
    plans = await explained.of("select * from forebay.tasks_of_item($1, 1, 50)", last)
    assert_indexed(plans)
    assert 1 <= _ready_rows(plans) <= 2 * 50 + 2
    plans = await explained.of("select * from forebay.contention(1, 1, 1, -1::smallint, '', '', 50)")
    assert_indexed(plans)
    assert 1 <= _ready_rows(plans) <= 3 * 50


async def test_the_runs_of_a_large_job_are_found_without_its_items_and_those_of_others(explained: Explained) -> None:
    db = explained.db
    job = await db.submit(3000)
    plans = await explained.of("select forebay.open_runs(j) from forebay.job j where j.id = $1", job)
    assert_indexed(plans)
    assert (_ready_rows(plans), _with(plans, "item", "Index Scan", "Index Only Scan", "Bitmap Heap Scan")) == (6, [])
    plans = await explained.of("select forebay.masks_of_items(j, 50) from forebay.job j where j.id = $1", job)
    assert_indexed(plans)
    (node, _), *_ = _with(plans, "item", "Index Scan", "Index Only Scan", "Bitmap Heap Scan")
    assert node["Index Name"] == "item_verdict"
