"""The filters of lists, counts and bulk changes of bookmarks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query

from forebay.api.models import Status
from forebay.api.problems import Problem
from forebay.api.routes.jobs import aware
from forebay.errors import InvalidField
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.db import BookmarkFilter
from forebay.pipelines.bookmarks.kinds import BookmarkKind
from forebay.pipelines.bookmarks.query import parse

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection

_Tag = Annotated[str, Query(max_length=100)]
_Site = Annotated[str, Query(max_length=300)]


@dataclass(frozen=True, slots=True)
class Selection:
    """The bookmarks that a request selects: by filters, and by words of a query."""

    where: BookmarkFilter
    words: str | None = None
    category: str | None = None  # by name, until it is found

    def searching(self, q: str | None) -> Selection:
        """The same with a query in addition: its words, and the filters of its operators.

        Raises: InvalidField; Problem.
        """
        if q is None or not q.strip():
            return self
        if "\0" in q:
            raise Problem(422, "must not contain a NUL character", field="query.q")
        query = parse(q)
        return Selection(query.narrow(self.where), query.words, query.category)

    async def found(self, conn: Connection, who: Principal) -> Selection:
        """The same with the id of the category that the query names.

        Raises: InvalidField when there is none of this name.
        """
        if self.category is None:
            return self
        category_id = await rows.find_category(conn, who.owner_id, None, self.category)
        if category_id is None:
            raise InvalidField("query.q", f"there is no category {self.category[:200]!r}")
        return replace(self, where=replace(self.where, category_id=category_id), category=None)


async def _selection(
    q: Annotated[
        str | None,
        Query(
            max_length=1000,
            description='words, "phrases", -without, or; the best match comes first. Operators: tag:news, '
            "site:example.org, kind:pdf, category:Rivers, is:archived, is:duplicate, is:pending, is:error; "
            "-tag:news excludes",
        ),
    ] = None,
    category_id: Annotated[str | None, Query(alias="categoryId", pattern="^[0-9]{1,18}$")] = None,
    tag: Annotated[list[_Tag], Query(max_length=20, description="may be repeated: all of them")] = [],  # noqa: B006
    kind: Annotated[list[BookmarkKind], Query(description="may be repeated: one of them")] = [],  # noqa: B006
    site: Annotated[list[_Site], Query(max_length=20, description="host; may be repeated: one of them")] = [],  # noqa: B006
    status: Annotated[list[Status], Query(description="may be repeated: one of them")] = [],  # noqa: B006
    since: Annotated[datetime | None, Query(description="saved at this time or later")] = None,
    until: Annotated[datetime | None, Query(description="saved before this time")] = None,
    archived: Annotated[bool | None, Query(description="only archived, or only other bookmarks")] = False,
    everything: Annotated[bool, Query(description="include archived bookmarks")] = False,
    duplicates: Annotated[bool, Query(description="only duplicates")] = False,
    trash: Annotated[bool, Query(description="deleted bookmarks instead of the others, archived or not")] = False,
) -> Selection:
    where = BookmarkFilter(
        None if everything or trash else archived,
        None if category_id is None else int(category_id),
        without_nul(tag, "query.tag"),
        kind,
        [each.lower().removeprefix("www.") for each in without_nul(site, "query.site")],
        status,
        since=aware(since, "since"),
        until=aware(until, "until"),
        duplicates=duplicates or None,
        trash=trash,
    )
    return Selection(where).searching(q)


def without_nul(values: list[str], field: str) -> list[str]:
    """Raises: Problem."""
    if any("\0" in value for value in values):
        raise Problem(422, "must not contain a NUL character", field=field)
    return values


Selected = Annotated[Selection, Depends(_selection)]
