"""The release before: its statements, word for word, and a worker that sends nothing else.

The files of `statements` and `signatures.json` (the types of parameters and columns, as that release's schema had them)
are never changed with the engine. When a release is made, they are written anew from its source.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection

FOLDER = Path(__file__).parent / "statements"
STATEMENTS = {file.stem: file.read_text("utf-8") for file in sorted(FOLDER.glob("*.sql"))}
SIGNATURES: dict[str, dict[str, list[str]]] = json.loads((FOLDER.parent / "signatures.json").read_text("utf-8"))

_RECORD = chr(30)  # between the results of a settle


@dataclass(frozen=True)
class Task:
    """A task that the worker has claimed."""

    token: int
    n: int
    step: str
    result_name: str  # of the step in the version of the job
    results: dict[str, Any]  # of earlier steps, by the worker's names


class PreviousWorker:
    """A worker of the release before, one verb at a time."""

    def __init__(self, conn: Connection, worker_id: int, version_id: int, steps: dict[int, str]) -> None:
        self._conn = conn
        self._id = worker_id
        self._version_id = version_id
        self._steps = steps  # names, by id
        self.ran: list[tuple[int, int, str]] = []  # job, n, step

    @classmethod
    async def start(cls, conn: Connection, definition: dict[str, Any]) -> PreviousWorker:
        """Registers its definition of the pipeline, and itself."""
        rows = await conn.fetch(STATEMENTS["register_version"], json.dumps(definition), False, None)
        version_id, steps = rows[0]["version_id"], {row["step_id"]: row["name"] for row in rows}
        worker_id = await conn.fetchval(STATEMENTS["register_worker"], "before", None, [version_id], list(steps))
        return cls(conn, worker_id, version_id, steps)

    async def claim(self, quota: int) -> list[Task]:
        """Claims up to so many tasks of each lane of its steps."""
        pairs = await self._conn.fetch(STATEMENTS["discover"], list(self._steps))
        if not pairs:
            return []
        await self._conn.fetch(STATEMENTS["describe_lanes"], [pair["lane_id"] for pair in pairs])
        await self._conn.fetch(STATEMENTS["mark_busy"], [pair["lane_id"] for pair in pairs], 10.0, None)
        size = len(pairs)
        rows = await self._conn.fetch(
            STATEMENTS["claim"],
            self._id,
            [pair["step_id"] for pair in pairs],
            [pair["lane_id"] for pair in pairs],
            [0] * size,
            [quota] * size,
            [quota] * size,
            list(self._steps),
            60.0,
            None,
        )
        return [task for row in rows for task in await self._tasks(tuple(row))]

    async def _tasks(self, row: tuple[Any, ...]) -> list[Task]:
        token, step_id, _, job_id, _, _, _, _, _, _, ns, _, results, version_id = row
        names: dict[str, str] = {}  # the worker's, by those of the job's version
        if version_id != self._version_id:
            renamed = await self._conn.fetch(STATEMENTS["list_renamed_steps"], [version_id], [self._version_id])
            names = {r["name"]: r["known_name"] for r in renamed}
        step = self._steps[step_id]
        self.ran += [(job_id, n, step) for n in ns or ()]
        given: list[dict[str, Any]] = [json.loads(text or "{}") for text in results or [None] * len(ns or ())]
        there = {here: name for name, here in names.items()}
        return [
            Task(
                token, n, step, there.get(step, step), {names.get(name, name): value for name, value in result.items()}
            )
            for n, result in zip(ns or (), given, strict=True)
        ]

    async def settle(self, tasks: Sequence[Task], outcome: str | None = None, retry_in: float | None = None) -> Any:
        """Ends tasks: as done, with the name of the step as its result, or as it is told."""
        size = len(tasks)
        now = await self._conn.fetchval("select extract(epoch from clock_timestamp())::float8")
        columns: list[Any] = [[], [], [], [], [], []]
        if outcome is not None:
            failed = ["data"] * size if outcome == "ERROR" else [None] * size
            columns = [[outcome] * size, [retry_in] * size, [True] * size, [False] * size, failed, failed]
        return await self._conn.fetchrow(
            STATEMENTS["settle"],
            self._id,
            ",".join(str(task.token) for task in tasks),
            ",".join(str(task.n) for task in tasks),
            ",".join(str(int(now * 1e6)) for _ in tasks),
            _RECORD.join(json.dumps({task.result_name: task.step}) if outcome is None else "" for task in tasks),
            *columns,
            None,
        )

    async def heartbeat(self, tasks: Sequence[Task]) -> dict[int, bool]:
        tokens = sorted({task.token for task in tasks})
        rows = await self._conn.fetch(STATEMENTS["heartbeat"], self._id, tokens, [60.0] * len(tokens), None)
        return {row["token"]: row["cancelled"] for row in rows}

    async def report(self, tasks: Sequence[Task]) -> None:
        """Writes the progress of tasks, and the worker's own status."""
        await self._conn.fetchval(
            STATEMENTS["report_progress"], [t.token for t in tasks], [t.n for t in tasks], ["1"] * len(tasks), None
        )
        await self._conn.fetchval(STATEMENTS["report_worker"], self._id, "{}", 0, None, False, None)

    async def sweep(self) -> None:
        """All the maintenance, which every worker of that release ran."""
        await self._conn.fetch(STATEMENTS["promote"], None, None)
        await self._conn.fetch(STATEMENTS["expire"], None)
        for name in (
            "reap_cancelled",
            "make_partitions",
            "adopt_orphans",
            "tidy_lanes",
            "tidy_limits",
            "close_workers",
        ):
            await self._conn.fetch(STATEMENTS[name], None)
        await self._conn.fetch(STATEMENTS["repair_stranded"], None)
        await self._conn.fetch(STATEMENTS["fold_tallies"])

    async def stop(self) -> None:
        await self._conn.fetchval(STATEMENTS["release_all"], self._id, None)
        await self._conn.fetchval(STATEMENTS["report_worker"], self._id, "{}", 0, None, True, None)
