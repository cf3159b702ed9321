"""`forebay submit`: hand work in from a shell."""

from __future__ import annotations

import json
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import duration, find_dsn, json_option, load_settings, run
from forebay.cli._waiting import ended
from forebay.db import overview
from forebay.engine.loading import load_pipelines
from forebay.engine.pipeline import Pipeline
from forebay.errors import InvalidField, UnknownPipeline
from forebay.types import JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forebay.engine.pipeline import ManyOptions
    from forebay.types import JobSummary, Submitted


@click.command()
@click.argument("pipeline")
@click.argument("source", required=False, default="-", metavar="[JSON|-|@FILE]")
@click.option("--owner", default="default", show_default=True, help="Whom the job belongs to.")
@click.option("--key", help="Idempotency key: the job that has it already is answered.")
@click.option("--priority", type=click.IntRange(-100, 100), default=0, show_default=True, help="Higher goes first.")
@click.option("--delay", type=duration, metavar="DURATION", help="Start later, for example in 30s or 1h30m.")
@click.option("--wait", is_flag=True, help="Wait for the job's end; exit code 1 when it failed.")
@json_option
def submit(pipeline: str, source: str, *, wait: bool, as_json: bool, **options: Any) -> None:
    """Submit one JSON value, or many: JSON lines from standard input (-) or a file become one job.

    \b
    forebay submit texts '{"title": "Hello", "body": "A short text."}'
    forebay submit texts @texts.jsonl --owner ann --wait
    """
    settings = load_settings()
    declared = {each.name: each for each in load_pipelines(settings.pipeline_modules)}
    # One that is declared elsewhere can be submitted too; then only the database knows what it takes.
    chosen = declared.get(pipeline) or _undeclared(pipeline)
    wanted: ManyOptions = {
        "owner": options["owner"],
        "key": options["key"],
        "priority": options["priority"],
        "delay": options["delay"],
    }
    job, summary = run(_submit(find_dsn(settings), chosen, source, wanted, wait=wait, quiet=as_json))
    _answer(job, summary, as_json=as_json)
    if summary is not None and summary.state is not JobState.DONE:
        sys.exit(1)


def _undeclared(name: str) -> Pipeline[Any]:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
        raise UnknownPipeline("pipeline", f"{name!r} cannot be one: names are a-z, 0-9 and _")
    anything: Any = Any
    return Pipeline[Any](name, anything)


async def _submit(
    dsn: str, pipeline: Pipeline[Any], source: str, options: ManyOptions, *, wait: bool, quiet: bool
) -> tuple[Submitted, JobSummary | None]:
    async with overview.connected(dsn, "forebay submit") as conn:
        if _is_one(source):
            job = await pipeline.submit(conn, _parsed(source, "input"), **options)
        else:
            with _opened(source) as lines:
                job = await pipeline.submit_many(conn, _values(lines), **options)
        return job, await ended(conn, job.job_id, quiet=quiet) if wait else None


def _is_one(source: str) -> bool:
    return source != "-" and not source.startswith("@")


def _opened(source: str) -> Any:
    if source == "-":
        if sys.stdin.isatty():
            click.echo("Reading JSON lines; end with Ctrl-D.", err=True)
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source[1:]).open("rb")
    except OSError as error:
        raise InvalidField("source", f"cannot read {source[1:]}: {error.strerror}") from error


def _values(lines: Iterable[bytes]) -> Iterator[Any]:
    """The values of the lines, empty ones left out; read while they are sent."""
    empty = True
    for number, line in enumerate(lines, 1):
        if line.strip():
            empty = False
            yield _parsed(line, f"line {number}")
    if empty:
        raise InvalidField("source", "has no JSON lines")


def _parsed(text: str | bytes, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidField(field, f"is not JSON: {error}") from error


def _answer(job: Submitted, summary: JobSummary | None, *, as_json: bool) -> None:
    if as_json:
        answer: dict[str, Any] = {"job_id": str(job.job_id), "created": job.created, "items": job.items}
        if summary is not None:
            answer |= {"state": summary.state}
            answer |= {name: getattr(summary, name) for name in ("total", "done", "skipped", "not_found", "error")}
        click.echo(show.dump(answer))
        return
    known = "" if job.created else " (it was there already)"
    click.echo(f"job {job.job_id}: {show.plural(job.items, 'item')}{known}")
    if summary is not None:
        counts = (
            f"{summary.done} done, {summary.skipped} skipped, {summary.not_found} not found, {summary.error} failed"
        )
        click.echo(f"{summary.state}: {counts}")
