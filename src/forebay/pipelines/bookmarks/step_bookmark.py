"""The bookmark that a step works on: the input that names it, the check of its owner, and the record of each step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.errors import DataError, StepError
from forebay.intake.receiving import is_last
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks import step_writes
from forebay.pipelines.bookmarks.settings import BookmarksSettings
from forebay.pipelines.bookmarks.step_names import StepName
from forebay.types import Done, NotFound, Skip

if TYPE_CHECKING:
    from forebay.engine.declare.pipeline import Pipeline

P = ParamSpec("P")
Ended = TypeVar("Ended", bound="Done[Any] | Skip | NotFound")

log = get_logger("bookmarks")

UNOWNED = "unowned"  # owner of old messages without a user
_GONE = Skip("the bookmark was deleted", item=True)


class Link(BaseModel):
    """The input for one bookmark, compatible with messages of the earlier queue."""

    model_config = ConfigDict(populate_by_name=True)

    bookmark_id: Annotated[int, Field(alias="bookmarkId", ge=1, le=2**63 - 1)]
    url: Annotated[str, Field(min_length=1, max_length=8192)]
    user_id: Annotated[str | None, Field(alias="userId", max_length=200)] = None
    favicon: Annotated[str | None, Field(alias="favIcon", max_length=8192)] = None
    is_image: Annotated[bool, Field(alias="isImage", strict=True)]
    only: tuple[StepName, ...] | None = None  # run these steps, skip the others


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The bookmark of a task, after its owner has been checked."""

    id: int
    owner_id: int
    etag: str | None
    modified: str | None
    is_unrendered: bool
    body_hash: bytes | None


def of_bookmark(
    pipeline: Pipeline[Link], *needed_by: StepName
) -> Callable[
    [Callable[Concatenate[Context, Link, Bookmark, P], Coroutine[Any, Any, Ended]]],
    Callable[Concatenate[Context, Link, P], Coroutine[Any, Any, Ended | Skip]],
]:
    """Give a step its bookmark, and record with the bookmark how the step has ended.

    The step is skipped if the bookmark is gone, or if neither this step nor one in `needed_by` is requested.
    """

    def declared(
        fn: Callable[Concatenate[Context, Link, Bookmark, P], Coroutine[Any, Any, Ended]],
    ) -> Callable[Concatenate[Context, Link, P], Coroutine[Any, Any, Ended | Skip]]:
        step = cast("StepName", fn.__name__)

        @wraps(fn)
        async def run(ctx: Context, link: Link, /, *args: P.args, **kwargs: P.kwargs) -> Ended | Skip:
            mark = await _wanted(ctx, link, step, *needed_by)
            if isinstance(mark, Skip):
                return mark
            ended = partial(step_writes.write_step, mark.id, mark.owner_id, step, ctx.job_id)
            try:
                outcome = await fn(ctx, link, mark, *args, **kwargs)
            except StepError as error:
                if is_last(ctx, pipeline.steps[step].retry, error):
                    error.writing(*error.writes, ended("FAILED", str(error)))
                raise
            if isinstance(outcome, Done):
                record = ended("DONE", None)
            else:
                record = ended("SKIPPED" if isinstance(outcome, Skip) else "NOT_FOUND", outcome.reason)
            return replace(outcome, writes=[*outcome.writes, record])

        return run

    return declared


async def _wanted(ctx: Context, link: Link, step: StepName, *needed_by: StepName) -> Bookmark | Skip:
    """The bookmark, if it still exists and this step, or one that needs it, is requested.

    A bookmark of another owner counts as missing.

    Raises: DataError when the job names no owner and no fallback owner is configured.
    """
    if link.only is not None and {step, *needed_by}.isdisjoint(link.only):
        return Skip("not requested")
    row = await rows.read_crawl(await ctx.get(resources.database), link.bookmark_id, ctx.owner_id)
    if row is None:
        return _GONE
    if link.user_id is None:
        fallback = (await ctx.get(resources.settings)).of(BookmarksSettings).fallback_owner
        if not fallback:
            raise DataError("userId: is missing; FOREBAY_BOOKMARKS_FALLBACK_OWNER can name an owner for such jobs")
        is_owner = fallback == row["owner"] and row["job_owner"] in (UNOWNED, fallback)
    else:
        is_owner = link.user_id == row["owner"] and ctx.owner_id == row["owner_id"]
    if not is_owner:
        # Only logged: submitters must not find out which ids others have.
        log.warning("bookmark_of_another_owner", bookmark=link.bookmark_id, job=ctx.job_id, owner=row["job_owner"])
        return _GONE
    return Bookmark(
        link.bookmark_id,
        row["owner_id"],
        row["etag"],
        row["last_modified"],
        row["unrendered"],
        row["body_hash"],
    )
