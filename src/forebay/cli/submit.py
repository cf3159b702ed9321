"""`forebay submit`: submit a job from a shell."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from forebay.cli import _job_report as pages
from forebay.cli import _show as show
from forebay.cli._common import duration, find_dsn, json_option, load_settings, run
from forebay.cli._group import WholeNumber
from forebay.cli._owner import choose_owner, owner_option
from forebay.cli._pipelines import make_known
from forebay.cli._waiting import ended
from forebay.db.pool import connected
from forebay.engine.declare.loading import load_pipelines
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import InvalidField, UnknownPipeline
from forebay.types import JobState, Unique
from forebay.validation import plain_reason

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from forebay.cli._job_report import JobReport
    from forebay.engine.submit.options import SubmitOptions
    from forebay.settings import Settings
    from forebay.types import Submitted


def _split(_: click.Context, __: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [state.strip().upper() for state in text.split(",")]


@click.command()
@click.argument("pipeline")
@click.argument("source", required=False, default="-", metavar="[JSON|-|@FILE]")
@owner_option
@click.option("--key", help="Idempotency key: if a job has this key already, none is created.")
@click.option(
    "--unique-states",
    metavar="STATE,…",
    callback=_split,
    help="A job keeps its key only in these states, for example QUEUED,RUNNING,PAUSED.",
)
@click.option(
    "--unique-period", type=duration, metavar="DURATION", help="A job keeps its key only for this long, for example 1h."
)
@click.option("--priority", type=WholeNumber(-100, 100), default=0, show_default=True, help="Higher goes first.")
@click.option("--delay", type=duration, metavar="DURATION", help="Start later, for example in 30s or 1h30m.")
@click.option("--wait", is_flag=True, help="Wait until the job has ended; exit code 1 when it failed.")
@json_option
def submit(pipeline: str, source: str, *, wait: bool, as_json: bool, **options: Any) -> None:
    """Submit a job.

    The input is one JSON value, or JSON Lines from standard input (-) or a file, which become one job.

    \b
    forebay submit texts '{"title": "Hello", "body": "A short text."}'
    forebay submit texts @texts.jsonl --owner ann --wait
    """
    settings = load_settings()
    declared = {each.name: each for each in load_pipelines(settings.pipeline_modules)}
    # A pipeline declared elsewhere can be used, too; then only the database can check its input.
    chosen = declared.get(pipeline) or _undeclared(pipeline)
    job, summary = run(_submit(settings, chosen, source, options, wait=wait, quiet=as_json))
    _answer(job, summary, as_json=as_json)
    if summary is not None and summary.job.state != JobState.DONE:
        sys.exit(1)


def _unique(states: list[str] | None, period: float | None) -> Unique | None:
    return None if states is None and period is None else Unique(states, period)


def _undeclared(name: str) -> Pipeline[Any]:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
        raise UnknownPipeline("pipeline", f"{name!r} is not a valid name: names have a-z, 0-9 and _")
    anything: Any = Any
    return Pipeline[Any](name, anything)


async def _submit(
    settings: Settings, pipeline: Pipeline[Any], source: str, given: dict[str, Any], *, wait: bool, quiet: bool
) -> tuple[Submitted, JobReport | None]:
    async with connected(find_dsn(settings), "forebay submit") as conn:
        options: SubmitOptions = {
            "owner": await choose_owner(conn, settings, given["owner"], quiet=quiet),
            "key": given["key"],
            "priority": given["priority"],
            "delay": given["delay"],
            "unique": _unique(given["unique_states"], given["unique_period"]),
        }
        if pipeline.steps:
            await make_known(conn, settings, pipeline)
        with _plain_reasons():
            if _is_one(source):
                job = await pipeline.submit(conn, _parsed(source, "input"), **options)
            else:
                with _opened(source) as lines:
                    job = await pipeline.submit_many(conn, _values(lines, _name(source)), **options)
        if not wait:
            return job, None
        await ended(conn, job.job_id, quiet=quiet)
        return job, await pages.read(conn, job.job_id)


@contextmanager
def _plain_reasons() -> Generator[None]:
    """Inputs that do not fit the type of the pipeline are rejected in the words of the command line."""
    try:
        yield
    except InvalidField as error:
        if not isinstance(error.__cause__, ValidationError):
            raise
        raise InvalidField(error.field, plain_reason(error.__cause__.errors(include_url=False)[0])) from error


def _name(source: str) -> str:
    return "standard input" if source == "-" else source[1:]


def _is_one(source: str) -> bool:
    return source != "-" and not source.startswith("@")


def _opened(source: str) -> Any:
    if source == "-":
        if sys.stdin.isatty():
            click.echo("Reading JSON Lines; end with Ctrl-D.", err=True)
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source[1:]).open("rb")
    except OSError as error:
        raise InvalidField(source[1:], f"cannot be read: {error.strerror}") from error


def _values(lines: Iterable[bytes], name: str) -> Iterator[Any]:
    """The values of the non-empty lines, read while they are sent."""
    empty = True
    for number, line in enumerate(lines, 1):
        if line.strip():
            empty = False
            yield _parsed(line, f"{name}, line {number}")
    if empty:
        raise InvalidField(name, "has no JSON Lines")


def _parsed(text: str | bytes, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidField(field, f"is not JSON: {error}") from error


def _answer(job: Submitted, page: JobReport | None, *, as_json: bool) -> None:
    if as_json:
        answer: dict[str, Any] = {"job_id": str(job.job_id), "created": job.created, "items": job.items}
        if page is not None:
            counters = ("state", "total", "done", "skipped", "not_found", "error")
            answer |= {name: getattr(page.job, name) for name in counters} | {"reasons": list(page.reasons)}
        click.echo(show.dump(answer))
        return
    known = "" if job.created else " (it existed already)"
    click.echo(f"job {job.job_id}: {show.plural(job.items, 'item')}{known}")
    if page is None:
        click.echo(f"`forebay job {job.job_id}` shows its progress.", err=True)
    else:
        click.echo(f"{page.job.state}: {show.counts(page.job)}")
        for reason in page.reasons:
            click.echo(f"  {reason}", err=True)
