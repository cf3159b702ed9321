"""The share that a step works on: its input, the check of its owner, and what is written about a failure."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.errors import StepError, TransientError
from forebay.intake.receiving import is_last, reason_of
from forebay.intake.target import ReceivedFile
from forebay.log import get_logger
from forebay.pipelines.media import db as rows
from forebay.pipelines.media import step_writes
from forebay.types import NotFound, Skip

if TYPE_CHECKING:
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.retry import Retry

P = ParamSpec("P")
Ended = TypeVar("Ended")

log = get_logger("media")

_GONE = Skip("the share was deleted", item=True)
_TAKEN = Skip("another job works on this share", item=True)


class Media(BaseModel):
    """The input for one share: a link, or an uploaded file."""

    model_config = ConfigDict(populate_by_name=True)

    share_id: Annotated[int | None, Field(alias="shareId", ge=1, le=2**63 - 1)] = None  # None: the share of this job
    url: Annotated[str | None, Field(min_length=1, max_length=8192)] = None
    file: ReceivedFile | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a task, after its owner has been checked."""

    id: int
    owner_id: int
    url: str | None
    title: str | None
    kind: str | None
    language: str | None
    duration_s: float | None
    file_id: int | None
    poster_id: int | None
    sha256: str | None
    media_type: str | None
    size: int | None
    is_entry: bool


def of_share(
    pipeline: Pipeline[Media], *, fetches: bool = False
) -> Callable[
    [Callable[Concatenate[Context, Media, Share, P], Coroutine[Any, Any, Ended]]],
    Callable[Concatenate[Context, Media, P], Coroutine[Any, Any, Ended | Skip]],
]:
    """Give a step its share. The step is skipped if the share is gone, or if a newer job works on it.

    `fetches`: if the step fails, the share says why, and whether it is tried again.
    """

    def declared(
        fn: Callable[Concatenate[Context, Media, Share, P], Coroutine[Any, Any, Ended]],
    ) -> Callable[Concatenate[Context, Media, P], Coroutine[Any, Any, Ended | Skip]]:
        @wraps(fn)
        async def run(ctx: Context, given: Media, /, *args: P.args, **kwargs: P.kwargs) -> Ended | Skip:
            share = await read_share(ctx, given)
            if isinstance(share, Skip):
                return share
            try:
                outcome = await fn(ctx, given, share, *args, **kwargs)
            except Exception as error:
                if fetches:
                    raise _noted(error, ctx, share, pipeline.steps[fn.__name__].retry) from error
                raise
            if fetches and isinstance(outcome, NotFound):
                written = step_writes.write_failure(share, outcome.reason, is_last=True)
                return replace(outcome, writes=[*outcome.writes, written])
            return outcome

        return run

    return declared


def _noted(error: Exception, ctx: Context, share: Share, retry: Retry) -> StepError:
    """The same error, with what the share says about it."""
    last, reason = is_last(ctx, retry, error), reason_of(error)
    log.warning("download_failed", share=share.id, job=ctx.job_id, attempt=ctx.attempt, retried=not last, error=reason)
    known = error if isinstance(error, StepError) else TransientError(reason)
    return known.writing(*known.writes, step_writes.write_failure(share, reason, is_last=last))


async def read_share(ctx: Context, given: Media) -> Share | Skip:
    """The share of a task. One of another owner counts as missing: submitters must not find out which ids others
    have."""
    row = await rows.read(await ctx.get(resources.database), given.share_id, ctx.job_id, ctx.n, ctx.owner_id)
    if row is None:
        return _GONE
    if row["job_id"] != ctx.job_id:
        return _TAKEN
    return Share(
        row["id"],
        row["owner_id"],
        row["url"],
        row["title"],
        row["kind"],
        row["language"],
        row["duration_s"],
        row["file_id"],
        row["poster_id"],
        row["sha256"],
        row["media_type"],
        row["size"],
        row["playlist_id"] is not None,
    )
