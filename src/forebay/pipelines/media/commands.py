"""`forebay media`: add, list, show and retry shares from a shell."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import Group, WholeNumber
from forebay.cli._owner import choose_owner, owner_option
from forebay.cli._pipelines import make_known
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.db.role_pool import API
from forebay.db.schema_parts import parts_for
from forebay.errors import NotFoundError
from forebay.identity import owners, session_context
from forebay.pipelines.media import db as rows
from forebay.pipelines.media.db import ShareFilter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.db.pool import Connection
    from forebay.pipelines.media.models import Share


@click.group(cls=Group)
def media() -> None:
    """Download videos, sound and pictures, and show their state.

    \b
    forebay media add https://example.com/film.mp4
    forebay media list --state failed
    forebay media retry 7
    """


@asynccontextmanager
async def _acting(given: str | None, *, quiet: bool, makes: bool = False) -> AsyncGenerator[tuple[Connection, int]]:
    """A connection that sees what the owner may see, as in the API, and the owner's id."""
    api.require()
    settings = load_settings()
    async with connected(find_dsn(settings), "forebay media") as conn:
        await migrate.check(conn, parts_for([__name__]))
        owner = await choose_owner(conn, settings, given, quiet=quiet)
        number = await owners.make(conn, owner) if makes else await owners.find(conn, owner)
        if number is None:
            raise NotFoundError("owner", f"there is no owner {owner!r}: choose another one with --owner")
        if makes:
            from forebay.pipelines.media.steps import media as pipeline  # noqa: PLC0415 - an extra

            await make_known(conn, settings, pipeline)
        async with conn.transaction():
            await session_context.act_for(conn, API, number)
            yield conn, number


@media.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--priority", type=WholeNumber(-100, 100), default=0, show_default=True, help="Higher goes first.")
@owner_option
@json_option
def add(urls: tuple[str, ...], *, priority: int, owner: str | None, as_json: bool) -> None:
    """Download what links lead to. A worker does it in the background."""
    for share in run(_add(urls, priority, owner, quiet=as_json)):
        show.answer(_json(share), f"share {share.id}: {share.url} is job {share.job_id}", as_json=as_json)


async def _add(urls: Sequence[str], priority: int, owner: str | None, *, quiet: bool) -> list[Share]:
    from forebay.pipelines.media.links import shared_url  # noqa: PLC0415 - an extra

    checked = [str(shared_url(url, load_settings(), "URL")) for url in urls]  # all before the first is written
    async with _acting(owner, quiet=quiet, makes=True) as (conn, owner_id):
        ids = [(await rows.add(conn, owner_id, url, None, priority))[0] for url in checked]
        return await _shown(conn, ids)


async def _shown(conn: Connection, ids: Sequence[int]) -> list[Share]:
    from forebay.pipelines.media.models import share_of  # noqa: PLC0415 - an extra

    return [share_of(row, {}) for row in await rows.show(conn, ids)]


def _json(share: Share) -> dict[str, Any]:
    return share.model_dump(mode="json", by_alias=True)


@media.command("list")
@click.option("--state", type=click.Choice(["pending", "processing", "retry", "completed", "failed"]), multiple=True)
@click.option("--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Maximum number of shares.")
@click.argument("words", nargs=-1)
@owner_option
@json_option
def list_(words: tuple[str, ...], *, state: tuple[str, ...], limit: int, owner: str | None, as_json: bool) -> None:
    """List the newest shares, or those with these words in them.

    Titles and transcripts are searched.
    """
    found = run(_list(" ".join(words) or None, state, limit, owner, quiet=as_json))
    for share in found:
        show.answer(_json(share), _line(share), as_json=as_json)
    if not found and not as_json:
        click.echo("There are no such shares.")


async def _list(words: str | None, states: Sequence[str], limit: int, owner: str | None, *, quiet: bool) -> list[Share]:
    async with _acting(owner, quiet=quiet) as (conn, _):
        return await _shown(conn, await rows.find(conn, ShareFilter(states, words=words), None, limit))


def _line(share: Share) -> str:
    title = (share.title or share.url or "")[:60]
    return f"{share.id:>6}  {share.file_state:<11}  {share.kind or '':<8}  {title}"


@media.command("show")
@click.argument("share_id", type=WholeNumber(1, 2**63 - 1))
@owner_option
@json_option
def show_(share_id: int, *, owner: str | None, as_json: bool) -> None:
    """Show a share: its state, its file and the progress of its download."""
    share = run(_show(share_id, owner, quiet=as_json))
    lines = [_line(share), f"download: {share.download_status}, attempts: {share.download_attempts}"]
    if share.download_error:
        lines.append(f"error: {share.download_error}")
    if share.progress is not None and share.progress.bytes_done is not None:
        lines.append(f"received: {share.progress.bytes_done} of {share.progress.bytes_total or 'unknown'} bytes")
    if share.file is not None:
        lines.append(f"file: {share.file.id}, {share.file.media_type}, {share.file.size} bytes, {share.file.sha256}")
    show.answer(_json(share), "\n".join(lines), as_json=as_json)


async def _show(share_id: int, owner: str | None, *, quiet: bool) -> Share:
    async with _acting(owner, quiet=quiet) as (conn, _):
        found = await _shown(conn, [share_id])
    if not found:
        raise NotFoundError("share", f"there is no share {share_id}")
    return found[0]


@media.command()
@click.argument("share_ids", nargs=-1, required=True, type=WholeNumber(1, 2**63 - 1), metavar="SHARE...")
@owner_option
@json_option
def retry(share_ids: tuple[int, ...], *, owner: str | None, as_json: bool) -> None:
    """Work on shares again that failed, or whose files were deleted."""
    for share_id, job_id in run(_retry(share_ids, owner, quiet=as_json)):
        answer = {"shareId": str(share_id), "jobId": str(job_id)}
        show.answer(answer, f"share {share_id} is job {job_id}", as_json=as_json)


async def _retry(share_ids: Sequence[int], owner: str | None, *, quiet: bool) -> list[tuple[int, int]]:
    made: list[tuple[int, int]] = []
    async with _acting(owner, quiet=quiet) as (conn, _):
        for share_id in share_ids:
            job_id = await rows.retry(conn, share_id)
            if job_id is None:
                raise NotFoundError("share", f"there is no share {share_id}")
            made.append((share_id, job_id))
    return made
