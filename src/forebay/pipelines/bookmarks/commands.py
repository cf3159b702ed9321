"""`forebay bookmarks`: save, find, import and export links from a shell."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from forebay.cli import _job_report as pages
from forebay.cli import _show as show
from forebay.cli import api
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import Group, WholeNumber
from forebay.cli._owner import choose_owner, owner_option
from forebay.cli._pipelines import make_known
from forebay.cli._sink import opened
from forebay.cli._waiting import ended
from forebay.db import migrate
from forebay.db.pool import connected
from forebay.db.role_pool import API
from forebay.db.schema_parts import parts_for
from forebay.errors import InvalidField, NotFoundError
from forebay.identity import owners, session_context
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.db import BookmarkFilter
from forebay.pipelines.bookmarks.query import BookmarkQuery, parse
from forebay.validation import plain_reason

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence

    import asyncpg

    from forebay.cli._job_report import JobReport
    from forebay.db.pool import Connection
    from forebay.pipelines.bookmarks.files import Entry, Format
    from forebay.types import Submitted

_PAGE = 500  # bookmarks per query
_LONGEST_TITLE = 60
_NONE_SUCH = "There are no such bookmarks."
_NONE_YET = "There are no bookmarks yet: `forebay bookmarks add URL` saves one."

tag_option = click.option("--tag", help="Only bookmarks with this tag.")
limit_option = click.option(
    "--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Maximum number of bookmarks."
)


@click.group(cls=Group)
def bookmarks() -> None:
    """Save, find, import and export links.

    \b
    forebay bookmarks add https://example.com --tag rivers
    forebay bookmarks search water -wine
    forebay bookmarks import bookmarks.html
    """


@asynccontextmanager
async def _connected(
    given: str | None, *, quiet: bool = True, makes: bool = False
) -> AsyncGenerator[tuple[Connection, str, int]]:
    """A connection, the owner of the bookmarks, and the owner's id."""
    api.require()
    settings = load_settings()
    async with connected(find_dsn(settings), "forebay bookmarks") as conn:
        await migrate.check(conn, parts_for([__name__]))
        owner = await choose_owner(conn, settings, given, quiet=quiet)
        number = await owners.make(conn, owner) if makes else await owners.find(conn, owner)
        if number is None:
            raise NotFoundError("owner", f"there is no owner {owner!r}: choose another one with --owner")
        yield conn, owner, number


@asynccontextmanager
async def _acting(conn: Connection, owner_id: int) -> AsyncGenerator[None]:
    """Row-level security applies as in the API."""
    async with conn.transaction():
        await session_context.act_for(conn, API, owner_id)
        yield


# Saving.


@bookmarks.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--title", help="Title.  [by default that of the page]")
@click.option("--note", help="A note.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be repeated.")
@click.option("--category", help="Category, created if it does not exist.")
@owner_option
@json_option
def add(urls: tuple[str, ...], *, owner: str | None, as_json: bool, **given: Any) -> None:
    """Save links.

    A worker reads the pages in the background. A page that is saved already gets the new title, note and tags.
    """
    for row in run(_add(urls, owner, given, quiet=as_json)):
        answer = _json(row) | {"created": row["created"]}
        how = "saved" if row["created"] else "was saved already"
        show.answer(answer, f"bookmark {row['id']}: {row['url']} {how}", as_json=as_json)


async def _add(urls: Sequence[str], owner: str | None, given: dict[str, Any], *, quiet: bool) -> list[asyncpg.Record]:
    from forebay.pipelines.bookmarks.steps import bookmarks as pipeline  # noqa: PLC0415 - an extra

    wanted = [_checked(url, given) for url in urls]  # check all before the first is written
    added: list[asyncpg.Record] = []
    async with _connected(owner, quiet=quiet, makes=True) as (conn, _, owner_id):
        await make_known(conn, load_settings(), pipeline)
        category = await _category(conn, owner_id, given["category"])
        for body in wanted:
            async with conn.transaction():
                new = _given(body, category)
                added.append(await rows.add_in(conn, API, owner_id, None, new))
    return added


def _checked(url: str, given: dict[str, Any]) -> Any:
    """Validate the values as the API does.

    Raises: InvalidField that names the option.
    """
    from forebay.pipelines.bookmarks.models import NewBookmark  # noqa: PLC0415 - an extra
    from forebay.services.egress import checked_url  # noqa: PLC0415

    try:
        checked_url(url)
    except InvalidField as error:
        raise InvalidField(url, error.reason) from error
    try:
        return NewBookmark(url=url, title=given["title"], note=given["note"], tags=list(given["tags"]) or None)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = {"tags": "--tag"}.get(str(first["loc"][0]), f"--{first['loc'][0]}")
        raise InvalidField(option, plain_reason(first)) from error


def _given(body: Any, category_id: int | None) -> rows.BookmarkValues:
    from forebay.pipelines.bookmarks.routes.bookmarks import given_bookmark  # noqa: PLC0415 - an extra

    named = body if category_id is None else body.model_copy(update={"category_id": str(category_id)})
    return given_bookmark(named, load_settings())


async def _category(conn: Connection, owner_id: int, name: str | None) -> int | None:
    if name is None:
        return None
    async with _acting(conn, owner_id):
        row = await rows.add_category(conn, owner_id, name)
    return None if row is None else row["id"]


# Finding.


@bookmarks.command("list")
@tag_option
@click.option("--archived", is_flag=True, help="Only archived bookmarks.")
@click.option("--all", "everything", is_flag=True, help="Include archived bookmarks.")
@limit_option
@owner_option
@json_option
def list_(*, as_json: bool, owner: str | None, limit: int, **given: Any) -> None:
    """List bookmarks, newest first."""
    where = BookmarkFilter(None if given["everything"] else given["archived"], tags=_tags(given["tag"]))
    found = run(_find(where, BookmarkQuery(), owner, limit))
    _show(found, _NONE_YET if where == BookmarkFilter() else _NONE_SUCH, as_json=as_json)


@bookmarks.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
@tag_option
@limit_option
@owner_option
@json_option
def search(words: tuple[str, ...], *, as_json: bool, owner: str | None, limit: int, tag: str | None) -> None:
    """Search titles, texts and images, best match first.

    Use words, "phrases", -without and or, as in search engines, and the operators tag:, site:, kind:, category: and is:
    with archived, duplicate, pending or error.
    """
    try:
        query = parse(" ".join(words))
    except InvalidField as error:
        raise InvalidField("WORDS", error.reason) from error
    where = query.narrow(BookmarkFilter(tags=_tags(tag)))
    _show(run(_find(where, query, owner, limit)), as_json=as_json)


def _tags(tag: str | None) -> tuple[str, ...]:
    return () if tag is None else (tag,)


async def _find(where: BookmarkFilter, query: BookmarkQuery, owner: str | None, limit: int) -> list[asyncpg.Record]:
    async with _connected(owner) as (conn, _, owner_id), _acting(conn, owner_id):
        if query.category is not None:
            category_id = await rows.find_category(conn, owner_id, None, query.category)
            if category_id is None:
                raise InvalidField("WORDS", f"there is no category {query.category!r}")
            where = replace(where, category_id=category_id)
        if query.words is None:
            return await rows.find(conn, where, limit)
        return await rows.search(conn, where, query.words, None, limit)


def _show(found: list[asyncpg.Record], nothing: str = _NONE_SUCH, *, as_json: bool) -> None:
    if as_json:
        click.echo(show.dump([_json(row) for row in found]))
    elif not found:
        click.echo(nothing)
    else:
        made = show.table(">id", "*title", "status", "*tags", "saved", "*address")
        for row in found:
            title = (row["title"] or "")[:_LONGEST_TITLE]
            tags = ", ".join(row["tags"])
            made.add_row(str(row["id"]), title, row["status"].lower(), tags, show.moment(row["created_at"]), row["url"])
        show.print_table(made, spare=("tags", "saved"), shortest=20)


def _json(row: asyncpg.Record) -> dict[str, Any]:
    """What the API answers, by the same model; the names are those of the command line."""
    from forebay.pipelines.bookmarks.models import bookmark_of  # noqa: PLC0415 - an extra

    known = {name: value for name, value in row.items() if name != "created"}
    return bookmark_of(known).model_dump(mode="json")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


# Files.


@bookmarks.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--wait", is_flag=True, help="Wait until all links are saved; exit code 1 when that failed.")
@owner_option
@json_option
def import_(file: Path, *, wait: bool, owner: str | None, as_json: bool) -> None:
    """Import a file of a browser or Pocket, or JSON.

    HTML, CSV and JSON are recognised. Each link becomes an item of a job; an invalid link is a failed item.
    """
    from forebay.pipelines.bookmarks import files as bookmark_files  # noqa: PLC0415 - an extra

    try:
        entries = list(bookmark_files.read(file.read_bytes()))
    except InvalidField as error:
        raise InvalidField(str(file), error.reason) from error
    job, page = run(_import(entries, file.name, owner, wait=wait, quiet=as_json))
    answer: dict[str, Any] = {"job_id": str(job.job_id), "items": job.items}
    text = f"{file}: {show.plural(job.items, 'link')}, job {job.job_id}"
    if page is not None:
        answer |= {"state": page.job.state, "done": page.job.done, "error": page.job.error}
        text += f"\n{page.job.state}: {show.counts(page.job)}"
    show.answer(answer, text, as_json=as_json)


async def _import(
    entries: Sequence[Entry], name: str, owner: str | None, *, wait: bool, quiet: bool
) -> tuple[Submitted, JobReport | None]:
    from forebay.engine.submit.options import checked_text  # noqa: PLC0415
    from forebay.pipelines.bookmarks.imports import bookmark_imports  # noqa: PLC0415
    from forebay.pipelines.bookmarks.routes.transfer import imported_of  # noqa: PLC0415 - an extra
    from forebay.pipelines.bookmarks.steps import bookmarks as pipeline  # noqa: PLC0415

    async with _connected(owner, quiet=quiet, makes=True) as (conn, whose, _):
        await make_known(conn, load_settings(), pipeline, bookmark_imports)
        async with conn.transaction():
            await session_context.begin_upload(conn, checked_text("file", name[-500:], 500))
            with _counted(entries, quiet=quiet) as taken:
                job = await bookmark_imports.submit_many(conn, map(imported_of, taken), owner=whose)
        if not wait:
            return job, None
        await ended(conn, job.job_id, quiet=quiet)
        return job, await pages.read(conn, job.job_id)


@contextmanager
def _counted(entries: Sequence[Entry], *, quiet: bool) -> Generator[Iterator[Entry]]:
    """Iterate over the entries, with a progress bar on standard error."""
    err = Console(stderr=True, quiet=quiet)
    columns = (TextColumn("links"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task("", total=len(entries))
        yield iter(progress.track(entries, task_id=bar))


@bookmarks.command()
@click.option(
    "--format",
    "kind",
    type=click.Choice(["html", "csv", "json"]),
    default="html",
    show_default=True,
    help="html for browsers, csv as Pocket writes it, or json with all fields.",
)
@click.option("--output", default="-", show_default=True, metavar="FILE|-", help="Target file; - is standard output.")
@owner_option
@json_option
def export(kind: Format, *, output: str, owner: str | None, as_json: bool) -> None:
    """Write all bookmarks to a file."""
    with opened(output) as sink:
        count = run(_export(kind, owner, sink.write))
    summary = {"bookmarks": count, "bytes": sink.size, "output": output}
    text = f"{show.plural(count, 'bookmark')}, {show.size(sink.size)}"
    click.echo(show.dump(summary) if as_json else text, err=output == "-")


async def _export(kind: Format, owner: str | None, write: Callable[[str], None]) -> int:
    from forebay.pipelines.bookmarks.exports import exported_entry  # noqa: PLC0415 - slow to import
    from forebay.pipelines.bookmarks.files import BookmarkFile  # noqa: PLC0415

    file, after, count = BookmarkFile(kind), (-1, 0), 0
    write(file.head())
    async with _connected(owner) as (conn, _, owner_id):
        while True:
            async with _acting(conn, owner_id):
                found = await rows.export(conn, after, _PAGE)
            await asyncio.to_thread(write, "".join(file.entry(exported_entry(row, kind)) for row in found))
            count += len(found)
            if len(found) < _PAGE:
                write(file.tail())
                return count
            after = (found[-1]["category_id"], found[-1]["id"])
