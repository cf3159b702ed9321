"""`forebay retry`, `pause`, `resume` and `cancel`: what people do to work. The audit says who did."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import actor, find_dsn, json_option, load_settings, run
from forebay.db import control, overview

if TYPE_CHECKING:
    from forebay.db.pool import Connection

    Verb = Callable[[Connection, Any, str], Awaitable[bool]]

_ENDED = ("ERROR", "NOT_FOUND", "SKIPPED", "DONE")
_FAILED = ("ERROR", "NOT_FOUND")

_job = click.IntRange(1, 2**63 - 1)
job_argument = click.argument("job_id", type=_job, metavar="JOB")
job_or_none = click.argument("job_id", type=_job, metavar="[JOB]", required=False)
queue_option = click.option("--queue", help="A queue instead of a job; PIPELINE.STEP unless the step says otherwise.")


@click.command()
@job_argument
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_ENDED, case_sensitive=False),
    multiple=True,
    help="Only items that ended so; may be repeated.  [ERROR and NOT_FOUND]",
)
@click.option(
    "--item", "items", type=click.IntRange(1, 2**31 - 1), multiple=True, help="Only this item; may be repeated."
)
@click.option("--keep-attempts", is_flag=True, help="Give each step one more attempt, not all of them anew.")
@json_option
def retry(
    job_id: int, *, statuses: tuple[str, ...], items: tuple[int, ...], keep_attempts: bool, as_json: bool
) -> None:
    """Run items of a job that have ended again.

    A failed item goes on after the steps that it has done; one that is DONE starts from nothing.
    """
    wanted = statuses or _FAILED
    count = run(_retry(job_id, wanted, items, reset_attempts=not keep_attempts))
    nothing = f"job {job_id}: nothing to run again, no such item is {' or '.join(wanted)}"
    verb = "runs" if count == 1 else "run"
    text = f"job {job_id}: {show.plural(count, 'item')} {verb} again" if count else nothing
    show.answer({"job_id": str(job_id), "items": count}, text, as_json=as_json)


async def _retry(job_id: int, statuses: tuple[str, ...], items: tuple[int, ...], *, reset_attempts: bool) -> int:
    async with overview.connected(find_dsn(load_settings()), "forebay retry") as conn:
        return await control.reprocess(conn, job_id, statuses, items or None, actor(), reset_attempts=reset_attempts)


@click.command()
@job_or_none
@queue_option
@json_option
def pause(job_id: int | None, queue: str | None, as_json: bool) -> None:
    """Hold a job, or a queue, back: what runs ends, nothing new starts."""
    _steer(job_id, queue, (control.pause, control.pause_queue), "paused", as_json=as_json)


@click.command()
@job_or_none
@queue_option
@json_option
def resume(job_id: int | None, queue: str | None, as_json: bool) -> None:
    """Let a paused job, or queue, go on."""
    _steer(job_id, queue, (control.resume, control.resume_queue), "going on", as_json=as_json)


@click.command()
@job_argument
@json_option
def cancel(job_id: int, as_json: bool) -> None:
    """End a job: what runs is told to stop, the rest is skipped. `forebay retry --status SKIPPED` brings it back."""
    _steer_job(job_id, control.cancel, "cancelled", as_json=as_json)


def _steer(job_id: int | None, queue: str | None, verbs: tuple[Verb, Verb], what: str, *, as_json: bool) -> None:
    if (job_id is None) == (queue is None):
        raise click.UsageError("name one: a job by its number, or a queue with --queue")
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
    """Whether it changed something, and the job's state after it."""
    async with overview.connected(find_dsn(load_settings()), "forebay control") as conn:
        changed = await verb(conn, target, actor())
        return changed, (await overview.job(conn, target)).state if isinstance(target, int) else None
