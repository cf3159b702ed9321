"""`forebay articles`: write, list, show, import and embed articles from a shell."""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import asynccontextmanager
from pathlib import Path
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
from forebay.errors import InvalidField, NotFoundError
from forebay.identity import owners, session_context
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.priorities import rank_of
from forebay.pipelines.articles.reading import MOST_ENTRIES, SUFFIXES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import asyncpg

    from forebay.db.pool import Connection
    from forebay.pipelines.articles.db import Reindex

_PRIORITIES = click.Choice(("high", "normal", "low"))


@click.group(cls=Group)
def articles() -> None:
    """Write, list, show, import and embed articles.

    \b
    forebay articles add notes.md
    forebay articles import folder
    forebay articles reindex
    """


@asynccontextmanager
async def _connected(
    given: str | None, *, quiet: bool = True, makes: bool = False
) -> AsyncGenerator[tuple[Connection, str, int]]:
    """A connection, the owner of the articles, and the owner's id."""
    api.require()
    settings = load_settings()
    async with connected(find_dsn(settings), "forebay articles") as conn:
        await migrate.check(conn, parts_for([__name__]))
        owner = await choose_owner(conn, settings, given, quiet=quiet)
        number = await owners.make(conn, owner) if makes else await owners.find(conn, owner)
        if number is None:
            raise NotFoundError("owner", f"there is no owner {owner!r}: choose another one with --owner")
        yield conn, owner, number


@asynccontextmanager
async def _acting(
    given: str | None, *, makes: bool = False, quiet: bool = True
) -> AsyncGenerator[tuple[Connection, int]]:
    """A transaction in which row-level security applies as in the API."""
    async with _connected(given, makes=makes, quiet=quiet) as (conn, _, owner_id):
        from forebay.pipelines.articles.steps import articles as pipeline  # noqa: PLC0415 - an extra

        await make_known(conn, load_settings(), pipeline)
        async with conn.transaction():
            await session_context.act_for(conn, API, owner_id)
            yield conn, owner_id


@articles.command()
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option("--title", help="Title.  [by default the first heading, or the name of the file]")
@click.option("--slug", help="File name.  [by default made of the title]")
@click.option("--message", help="What this version is about.")
@click.option("--skip-embedding", is_flag=True, help="Do not embed it: it is found by its words only.")
@click.option("--priority", type=_PRIORITIES, default="normal", show_default=True, help="Priority of the task.")
@owner_option
@json_option
def add(file: Any, *, owner: str | None, as_json: bool, **given: Any) -> None:
    """Save an article from a Markdown FILE, or from standard input (-).

    A worker embeds it in the background.
    """
    row = run(_add(file.read(), Path(file.name).stem, owner, given, quiet=as_json))
    show.answer(_json(row), f"article {row['id']}: {row['slug']} is saved", as_json=as_json)


async def _add(content: str, stem: str, owner: str | None, given: dict[str, Any], *, quiet: bool) -> asyncpg.Record:
    from pydantic import ValidationError  # noqa: PLC0415 - only here

    from forebay.pipelines.articles.models import NewArticle  # noqa: PLC0415 - an extra
    from forebay.pipelines.articles.reading import title_of  # noqa: PLC0415
    from forebay.pipelines.articles.saving import given_article  # noqa: PLC0415
    from forebay.validation import plain_reason  # noqa: PLC0415

    try:
        body = NewArticle(
            title=given["title"] or title_of(content) or stem,
            content=content,
            slug=given["slug"],
            message=given["message"],
            skip_embedding=given["skip_embedding"],
            embedding_priority=given["priority"],
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidField(f"--{first['loc'][0]}", plain_reason(first)) from error
    values, embedding = given_article(body, load_settings())
    async with _acting(owner, makes=True, quiet=quiet) as (conn, owner_id):
        return await rows.create_in(conn, API, owner_id, None, values, embedding)


@articles.command("list")
@click.option(
    "--embedding", type=click.Choice(("fresh", "stale", "waiting", "failed", "off")), help="Only in this state."
)
@click.option("--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Maximum number of articles.")
@owner_option
@json_option
def list_(*, embedding: str | None, limit: int, owner: str | None, as_json: bool) -> None:
    """List articles, the last changed first."""
    found = run(_list(embedding, limit, owner))
    if as_json:
        click.echo(show.dump([_json(row) for row in found]))
    elif not found:
        click.echo("There are no such articles: `forebay articles add FILE` saves one.")
    else:
        made = show.table(">id", "*title", "version", "embedding", "changed", "*slug")
        for row in found:
            changed = show.moment(row["updated_at"])
            made.add_row(str(row["id"]), row["title"][:60], str(row["version"]), row["embedding"], changed, row["slug"])
        show.print_table(made, spare=("slug", "changed"), shortest=20)


async def _list(embedding: str | None, limit: int, owner: str | None) -> list[asyncpg.Record]:
    async with _acting(owner) as (conn, _):
        return await rows.find(conn, None if embedding is None else [embedding], None, limit)


@articles.command("show")
@click.argument("article")
@click.option("--html", is_flag=True, help="As HTML that is safe to show.")
@owner_option
@json_option
def show_(article: str, *, html: bool, owner: str | None, as_json: bool) -> None:
    """Show the text of an ARTICLE, given by its id or its slug."""
    row = run(_get(article, owner))
    if as_json:
        click.echo(show.dump(_json(row) | {"content": row["content"]}))
    elif html:
        from forebay.pipelines.articles.rendering import render  # noqa: PLC0415 - an extra

        click.echo(render(row["content"]))
    else:
        click.echo(row["content"])


async def _get(article: str, owner: str | None) -> asyncpg.Record:
    async with _acting(owner) as (conn, owner_id):
        by_slug = await rows.find_slug(conn, owner_id, article)
        number = by_slug if by_slug is not None or not article.isdigit() else int(article[:18])
        row = None if number is None else await rows.get(conn, number)
        if row is None:
            raise NotFoundError("ARTICLE", f"there is no article {article!r}")
        return row


@articles.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--skip-embedding", is_flag=True, help="Do not embed them.")
@owner_option
@json_option
def import_(path: Path, *, skip_embedding: bool, owner: str | None, as_json: bool) -> None:
    """Import a folder or a file: Markdown, HTML, text, PDF, or a ZIP.

    Articles with the same file names are changed.
    """
    options = {"skipEmbedding": True} if skip_embedding else {}
    with tempfile.NamedTemporaryFile(prefix="forebay-articles-", suffix=".zip") as packed:
        name, file = path.name, path
        if path.is_dir():
            name, file = f"{path.resolve().name}.zip", Path(packed.name)
            pack(path, file)
        job = run(_import(name, file, file.stat().st_size, owner, options, quiet=as_json))
    show.answer({"job_id": str(job)}, f"job {job}: `forebay job {job}` shows its progress", as_json=as_json)


async def _import(name: str, file: Path, size: int, owner: str | None, options: dict[str, Any], *, quiet: bool) -> int:
    from forebay.intake.db import FileTerms, NewFile  # noqa: PLC0415 - an extra
    from forebay.intake.local_files import LocalFile, submit_file  # noqa: PLC0415
    from forebay.pipelines.articles.files import FILES  # noqa: PLC0415
    from forebay.pipelines.articles.imports import article_file_intake, article_files  # noqa: PLC0415
    from forebay.storage import open_store  # noqa: PLC0415

    settings = load_settings()
    if (reason := FILES.check_name(settings, name)) is not None:
        raise InvalidField(name, reason)
    async with _connected(owner, quiet=quiet, makes=True) as (conn, whose, _):
        await make_known(conn, settings, article_file_intake, article_files)
        new = LocalFile(NewFile(name[-500:], size, options), file)
        return (await submit_file(FILES, conn, open_store(settings), whose, new, FileTerms())).job_id


def pack(folder: Path, file: Path) -> None:
    """Put the articles of a folder, and of the folders in it, into a ZIP file. Links and hidden files are left out.

    Raises: InvalidField if there are none, or too many.
    """
    count = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                found = Path(place, name)
                if name.startswith(".") or not name.lower().endswith(SUFFIXES[:-1]) or found.is_symlink():
                    continue
                count += 1
                archive.write(found, found.relative_to(folder).as_posix())
    if not 0 < count <= MOST_ENTRIES:
        raise InvalidField(str(folder), f"has {count} articles; between 1 and {MOST_ENTRIES} can be imported at once")


@articles.command()
@click.option("--priority", type=_PRIORITIES, default="low", show_default=True, help="Priority of the tasks.")
@click.option("--failed", is_flag=True, help="Only run tasks again that have failed, with high priority.")
@owner_option
@json_option
def reindex(*, priority: str, failed: bool, owner: str | None, as_json: bool) -> None:
    """Embed all articles that need it, as one job that can be paused.

    `forebay job ID` shows its progress, and `forebay pause ID` and `forebay resume ID` stop and continue it.
    """
    if failed:
        count = run(_retry(owner))
        show.answer({"retried": count}, f"{show.plural(count, 'task')} will run again", as_json=as_json)
        return
    made = run(_reindex(owner, priority))
    if made is None:
        show.answer({"job_id": None, "items": 0}, "All articles are embedded.", as_json=as_json)
    else:
        told = f"job {made.job_id}: {show.plural(made.items, 'article')} to embed"
        show.answer({"job_id": str(made.job_id), "items": made.items}, told, as_json=as_json)


async def _reindex(owner: str | None, priority: str) -> Reindex | None:
    async with _acting(owner) as (conn, owner_id):
        return await rows.reindex(conn, owner_id, rank_of(priority), "forebay articles")


async def _retry(owner: str | None) -> int:
    async with _acting(owner) as (conn, owner_id):
        return await rows.retry_failed(conn, owner_id, "forebay articles")


@articles.command()
@json_option
def stats(as_json: bool) -> None:
    """Count the tasks of all owners by status."""
    row = run(_stats())
    if as_json:
        click.echo(show.dump(row))
    else:
        click.echo(", ".join(f"{count} {status}" for status, count in row.items()))


async def _stats() -> dict[str, int]:
    from forebay.cli.database import open_database  # noqa: PLC0415 - only here

    async with open_database(__name__) as conn:
        return dict(await rows.count_tasks(conn, None))


def _json(row: asyncpg.Record) -> dict[str, Any]:
    names = ("slug", "title", "version", "embedding", "embedded_version", "words")
    return {"id": str(row["id"]), **{name: row[name] for name in names}, "updated_at": row["updated_at"].isoformat()}
