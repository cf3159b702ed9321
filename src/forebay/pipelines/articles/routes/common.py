"""What the routes of articles share: finding and changing an article, and the version that a caller expects."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Header

from forebay.api.models import Reference
from forebay.api.problems import Problem
from forebay.errors import ConflictError, NotFoundError
from forebay.pipelines.articles import db as rows
from forebay.pipelines.articles.models import Article
from forebay.pipelines.articles.saving import given_change
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from collections.abc import Generator

    import asyncpg

    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection
    from forebay.pipelines.articles.models import ArticleChange
    from forebay.settings import Settings

IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=200, description='the version that the caller has seen, as in `"3"`'),
]
STALE: dict[int | str, dict[str, Any]] = {412: {"description": "there is a newer version"}}
_TAG = re.compile(r'^(?:W/)?"?([0-9]{1,9})"?$')


async def change(
    conn: Connection, article_id: str, body: ArticleChange, settings: Settings, if_match: str | None
) -> Article:
    """Change an article and submit its task, in the caller's transaction.

    Raises: NotFoundError; Problem 412 for another version than the expected one.
    """
    values, embedding = given_change(body, settings)
    expected = body.version if if_match is None else expected_version(if_match)
    with submitting("articles") as now, conflicts():
        if await rows.update(conn, int(article_id), expected, values, embedding, now.trace) is None:
            raise not_there(article_id)
        article = Article(**(await rows.show(conn, [int(article_id)]))[0])
        if article.job_id is not None:
            now.made(int(article.job_id))
    return article


async def found_article(conn: Connection, article_id: str) -> asyncpg.Record:
    """Raises: NotFoundError."""
    row = await rows.get(conn, int(article_id))
    if row is None:
        raise not_there(article_id)
    return row


def shown_to(who: Principal, article: Article) -> Article | Reference:
    """What this caller may see: only the id without the scope `read`."""
    return article if who.can_read else Reference(id=article.id)


def not_there(article_id: str) -> NotFoundError:
    return NotFoundError("article", f"there is no article {article_id}")


def etag(version: int) -> str:
    return f'"{version}"'


def expected_version(if_match: str | None) -> int | None:
    """The version that the caller demands.

    Raises: Problem 422 for a tag that is not one of articles.
    """
    if if_match is None or if_match.strip() == "*":
        return None
    found = _TAG.match(if_match.strip())
    if found is None:
        raise Problem(422, 'must be the version of the article, as in "3"', field="If-Match")
    return int(found[1])


@contextmanager
def conflicts() -> Generator[None]:
    """Answer 412 when the caller has seen another version than the current one."""
    try:
        yield
    except ConflictError as error:
        if error.field != "version":
            raise
        raise Problem(412, error.reason, field="version") from error
