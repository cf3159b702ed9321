"""`forebay retry`, `pause`, `resume` and `cancel`. Actions are recorded in the audit."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import actor, find_dsn, json_option, load_settings, run
from forebay.cli._group import JOB_ID, WholeNumber
from forebay.db.pool import connected
from forebay.engine.db import control, overview

if TYPE_CHECKING:
    from forebay.db.pool import Connection

    Verb = Callable[[Connection, Any, str], Awaitable[bool]]

_ENDED = ("ERROR", "NOT_FOUND", "SKIPPED", "DONE")
_WORDS = {"ERROR": "failed", "NOT_FOUND": "not found", "SKIPPED": "skipped", "DONE": "done"}

job_argument = click.argument("job_id", type=JOB_ID, metavar="JOB")
job_or_none = click.argument("job_id", type=JOB_ID, metavar="[JOB]", required=False)
queue_option = click.option("--queue", help="A queue instead of a job, by default named PIPELINE.STEP.")


@click.command()
@job_argument
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_ENDED, case_sensitive=False),
    multiple=True,
    help="Only items with this status; may be repeated.  [ERROR]",
)
@click.option("--not-found", is_flag=True, help="Also items that were not found: the same as --status NOT_FOUND.")
@click.option("--item", "items", type=WholeNumber(1, 2**31 - 1), multiple=True, help="Only this item; may be repeated.")
@click.option("--keep-attempts", is_flag=True, help="Give each step one more attempt instead of all attempts.")
@click.option("--dry-run", is_flag=True, help="Only print how many items would run again.")
@click.option("--yes", is_flag=True, help="Do not ask before running items that did not fail.")
@json_option
def retry(
    job_id: int,
    *,
    statuses: tuple[str, ...],
    items: tuple[int, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **given: bool,
) -> None:
    """Run failed items of a job again.

    A failed item continues after its completed steps; a DONE item starts from the beginning. On a terminal, the command
    asks before it runs items that did not fail.
    """
    wanted = tuple(dict.fromkeys([*(statuses or ("ERROR",)), *(["NOT_FOUND"] * given["not_found"])]))
    counts = run(_counts(job_id, wanted, items))
    would = sum(counts.values())
    if dry_run:
        _show_dry_run(job_id, counts, items, as_json=as_json)
        return
    others = would - counts.get("ERROR", 0)
    if others and not yes and not as_json and sys.stdin.isatty():
        click.confirm(f"job {job_id}: {_told(counts)}. Run all {show.number(would)} again?", abort=True, err=True)
    count = run(_retry(job_id, wanted, items, reset_attempts=not given["keep_attempts"])) if would else 0
    verb = "runs" if count == 1 else "run"
    text = f"job {job_id}: {show.plural(count, 'item')} {verb} again" if count else _nothing(job_id, wanted, items)
    show.answer({"job_id": str(job_id), "items": count}, text, as_json=as_json)


async def _counts(job_id: int, statuses: tuple[str, ...], items: tuple[int, ...]) -> dict[str, int]:
    """The number of items by status, of the named ones or of all."""
    async with connected(find_dsn(load_settings()), "forebay retry") as conn:
        await overview.job(conn, job_id)
        return await control.count_ended(conn, job_id, statuses, items or None)


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{show.number(count)} {_WORDS[status]}" for status, count in counts.items() if count)


def _nothing(job_id: int, wanted: tuple[str, ...], items: tuple[int, ...]) -> str:
    words = " or ".join(_WORDS[status] for status in wanted)
    hint = "; --not-found includes items that were not found" if wanted == ("ERROR",) else ""
    return f"job {job_id}: nothing to run again, none of {'these' if items else 'its'} items is {words}{hint}"


def _show_dry_run(job_id: int, counts: dict[str, int], items: tuple[int, ...], *, as_json: bool) -> None:
    total = sum(counts.values())
    text = f"job {job_id}: {show.plural(total, 'item')} would run again: {_told(counts)}"
    answer = {"job_id": str(job_id), "items": total, "by_status": counts, "dry_run": True}
    show.answer(answer, text if total else _nothing(job_id, tuple(counts), items), as_json=as_json)


async def _retry(job_id: int, statuses: tuple[str, ...], items: tuple[int, ...], *, reset_attempts: bool) -> int:
    async with connected(find_dsn(load_settings()), "forebay retry") as conn:
        return await control.reprocess(conn, job_id, statuses, items or None, actor(), reset_attempts=reset_attempts)


@click.command()
@job_or_none
@queue_option
@json_option
def pause(job_id: int | None, queue: str | None, as_json: bool) -> None:
    """Pause a job or a queue.

    Running steps finish; no new ones start.
    """
    _steer(job_id, queue, (control.pause, control.pause_queue), "paused", as_json=as_json)


@click.command()
@job_or_none
@queue_option
@json_option
def resume(job_id: int | None, queue: str | None, as_json: bool) -> None:
    """Resume a paused job or queue."""
    _steer(job_id, queue, (control.resume, control.resume_queue), "resumed", as_json=as_json)


@click.command()
@job_argument
@json_option
def cancel(job_id: int, as_json: bool) -> None:
    """Cancel a job.

    Running steps are told to stop, the other items are skipped. `forebay retry JOB --status SKIPPED` runs them again.
    """
    _steer_job(job_id, control.cancel, "cancelled", as_json=as_json)


def _steer(job_id: int | None, queue: str | None, verbs: tuple[Verb, Verb], what: str, *, as_json: bool) -> None:
    if (job_id is None) == (queue is None):
        raise click.UsageError("name a job by its number, or a queue with --queue")
    if job_id is not None:
        _steer_job(job_id, verbs[0], what, as_json=as_json)
        return
    changed, _ = run(_do(verbs[1], queue))
    text = f"queue {queue} is {what} {'now' if changed else 'already'}"
    show.answer({"queue": queue, "changed": changed}, text, as_json=as_json)


def _steer_job(job_id: int, verb: Verb, what: str, *, as_json: bool) -> None:
    changed, state = run(_do(verb, job_id))
    text = f"job {job_id} is {what} {'now' if changed else 'already'}"
    show.answer({"job_id": str(job_id), "changed": changed, "state": state}, text, as_json=as_json)


async def _do(verb: Verb, target: int | str | None) -> tuple[bool, str | None]:
    """Whether the state changed, and the job's new state."""
    async with connected(find_dsn(load_settings()), "forebay control") as conn:
        changed = await verb(conn, target, actor())
        return changed, (await overview.job(conn, target)).state if isinstance(target, int) else None
