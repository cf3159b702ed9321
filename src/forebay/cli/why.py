"""`forebay why`: the reasons for which a job, an item or a queue waits."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import JOB_ID, WholeNumber
from forebay.db.pool import connected
from forebay.engine.why import find

if TYPE_CHECKING:
    from forebay.engine.why.reason import Answer


@click.command()
@click.argument("job_id", type=JOB_ID, metavar="[JOB]", required=False)
@click.argument("item", type=WholeNumber(0, 2**31 - 1), metavar="[ITEM]", required=False)
@click.option("--queue", help="A queue instead of a job, by default named PIPELINE.STEP.")
@json_option
def why(job_id: int | None, item: int | None, queue: str | None, as_json: bool) -> None:
    """Say why a job, an item or a queue waits.

    The first sentence is the most important reason. Item 0 stands for the steps that begin when all items have ended.
    """
    if (job_id is None) == (queue is None):
        raise click.UsageError("name a job by its number, or a queue with --queue")
    answer = run(_find(job_id, item, queue))
    if as_json:
        click.echo(show.dump(asdict(answer)))
        return
    click.echo("\n".join(_sentences(answer, job_id)))


async def _find(job_id: int | None, item: int | None, queue: str | None) -> Answer:
    async with connected(find_dsn(load_settings()), "forebay why") as conn:
        if queue is not None:
            return await find.of_queue(conn, queue)
        assert job_id is not None  # noqa: S101 - checked by the command
        return await (find.of_job(conn, job_id) if item is None else find.of_item(conn, job_id, item))


def _sentences(answer: Answer, job_id: int | None) -> list[str]:
    from forebay.cli._why_words import sentence  # noqa: PLC0415 - JSON output needs no words

    if answer.reasons:
        return [sentence(reason, answer.at, job=job_id) for reason in answer.reasons]
    if answer.status is None:
        return ["nothing holds the tasks of this queue back."]
    return [f"it has ended: {answer.status}."]
