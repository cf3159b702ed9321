"""The report of `forebay job`: counts, results, and reasons of failures."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import from_json
from rich.console import Group
from rich.text import Text

from forebay.cli import _show as show
from forebay.engine.db import lists, overview
from forebay.packages import job_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from forebay.db.pool import Connection
    from forebay.engine.db.lists import Children, FullItem, WaitRow
    from forebay.engine.db.overview import DeadLetterRow, JobRow

_WAITS = 10  # tasks that wait for signals, without --all
_EACH = 3  # items per status, without --all
_MOST = 500  # items with --all
_ENDED = {"ERROR": "error", "NOT_FOUND": "not_found", "SKIPPED": "skipped", "DONE": "done"}
_LONGEST = 200  # characters of a result on the terminal


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job with its items. `problem`: why it could not be processed; `result`: of its last steps."""

    job: JobRow
    result: dict[str, Any]
    problem: str | None
    last_error: str | None
    letters: list[DeadLetterRow]
    waits: list[WaitRow]
    children: Children | None
    items: list[FullItem] = field(default_factory=list["FullItem"])

    @property
    def is_over(self) -> bool:
        return self.job.finished_at is not None

    @property
    def reasons(self) -> Iterator[str]:
        """The distinct reasons of failures."""
        told = [self.problem, self.last_error, *(reason_of(item) for item in self.items if item.status == "ERROR")]
        yield from dict.fromkeys(reason for reason in told if reason)


async def read(conn: Connection, job_id: int, *, all_items: bool = False) -> JobReport:
    """Raises: NotFoundError."""
    job = await overview.job(conn, job_id)
    return JobReport(
        job,
        await overview.job_result(conn, job_id),
        await job_hooks(job.pipeline).problem(conn, job_id),
        await overview.last_error(conn, job_id),
        await overview.dead_letters(conn, job_id=job_id),
        [] if job.finished_at is not None else await lists.waits(conn, job_id, most=_MOST if all_items else _WAITS),
        await lists.children(conn, job_id),
        await _items(conn, job, None, _MOST) if all_items else await _some(conn, job),
    )


async def _some(conn: Connection, job: JobRow) -> list[FullItem]:
    """A few items of each status, failed ones first."""
    found: list[FullItem] = []
    for status, counter in _ENDED.items():
        if getattr(job, counter):
            found += await _items(conn, job, [status], _EACH)
    return found


async def _items(conn: Connection, job: JobRow, statuses: Sequence[str] | None, most: int) -> list[FullItem]:
    found: list[FullItem] = []
    async with aclosing(lists.full_items(conn, job.id, statuses)) as items:
        async for item in items:
            found.append(item)
            if len(found) == most:
                break
    return found


def reason_of(item: FullItem) -> str:
    """The reason of an item's outcome; empty if there is none."""
    error: Any = from_json(item.error) if item.error else None
    return str(cast("dict[str, Any]", error).get("reason") or "") if isinstance(error, dict) else str(error or "")


# Output for terminals.


def drawn(page: JobReport) -> RenderableType:
    parts: list[RenderableType] = [_facts(page)]
    if page.waits:
        parts += [Text(), _wait_table(page.waits)]
    if page.letters:
        parts += [Text(), _letters(page.letters)]
    told = {letter.n for letter in page.letters}
    items = [item for item in page.items if item.status != "ERROR" or item.n not in told]
    if items:
        parts += [Text(), _item_table(items)]
    left = page.job.total - len(items) - len(told)
    if left > 0 and (items or told):
        parts.append(Text(f"and {show.number(left)} more: `forebay export {page.job.id}` writes all", style="dim"))
    return Group(*parts)


def _facts(page: JobReport) -> RenderableType:
    job = page.job
    facts = show.table("", "*")
    facts.show_header = False
    facts.columns[1].no_wrap = False
    rows: list[tuple[str, RenderableType]] = [
        ("job", Text(f"{job.id}, {job.pipeline} of {job.owner}")),
        ("state", show.state(job.state)),
        ("items", f"{show.number(job.total)}: {show.counts(job)}"),
        ("submitted", show.moment(job.created_at)),
        ("waited", show.between(job.created_at, job.started_at)),
        ("took", show.between(job.started_at, job.finished_at or datetime.now(UTC))),
    ]
    if page.children is not None:
        rows.append(("children", _children(page.children)))
    if job.eta is not None:
        rows.append(("ETA", show.between(datetime.now(UTC), job.eta)))
    named = (("key", job.key), ("problem", page.problem), ("last error", page.last_error))
    rows += [(name, Text(value, style="default" if name == "key" else "red")) for name, value in named if value]
    rows += [(step, Text(show.dump(value))) for step, value in page.result.items()]
    return show.fill(facts, rows)


def _children(children: Children) -> str:
    """The counts, and the jobs to look at."""
    ids = [f"{each}" for each in children.job_ids[:_EACH]]
    more = ", …" if len(children.job_ids) > _EACH else ""
    open_ones = children.total - children.done - children.failed
    counts = f"{show.number(children.done)} done, {show.number(children.failed)} failed, {show.number(open_ones)} other"
    total = f"{'more than ' if children.is_cut else ''}{show.number(children.total)}"
    return f"{total}: {counts} (job {', '.join(ids)}{more})"


def _wait_table(waits: Sequence[WaitRow]) -> RenderableType:
    waiting = show.table(">item", "step", "*waits for", expand=True)
    waiting.columns[-1].no_wrap = False
    for wait in waits:
        until = "" if wait.until is None else f" until {show.moment(wait.until)}"
        waiting.add_row(str(wait.n), wait.step, Text(f"signal {wait.signal}/{wait.key}{until}"))
    return waiting


def _letters(letters: Sequence[DeadLetterRow]) -> RenderableType:
    failed = show.table(">item", "failed step", "class", ">attempt", "failed at", "*reason", expand=True)
    failed.columns[-1].no_wrap = False
    for letter in letters:
        kind, reason = letter.error_class or "", Text(letter.reason or "")
        failed.add_row(str(letter.n), letter.step, kind, str(letter.attempt), show.moment(letter.at), reason)
    return failed


def _item_table(items: Sequence[FullItem]) -> RenderableType:
    made = show.table(">item", "status", "*result, or the reason", expand=True)
    made.columns[-1].no_wrap = False
    for item in items:
        made.add_row(str(item.n), _status(item.status), _outcome(item))
    return made


def _status(status: str) -> Text:
    return Text(status.replace("_", " ").lower(), style={"ERROR": "red", "DONE": "green"}.get(status, "default"))


def _outcome(item: FullItem) -> Text:
    text = item.result or "" if item.status == "DONE" else reason_of(item)
    return Text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")


# Output as JSON.


def as_json(page: JobReport) -> dict[str, Any]:
    return {
        **show.job_json(page.job),
        "result": page.result,
        "problem": page.problem,
        "last_error": page.last_error,
        "dead_letters": [show.letter_json(letter) for letter in page.letters],
        "waits": [asdict(wait) for wait in page.waits],
        "children": None if page.children is None else _children_json(page.children),
        "items": [_item_json(item) for item in page.items],
    }


def _children_json(children: Children) -> dict[str, Any]:
    return asdict(children) | {"job_ids": [str(job_id) for job_id in children.job_ids]}


def _item_json(item: FullItem) -> dict[str, Any]:
    parsed = {name: None if (text := getattr(item, name)) is None else from_json(text) for name in ("result", "error")}
    return {"n": item.n, "status": item.status, "key": item.key, **parsed}
