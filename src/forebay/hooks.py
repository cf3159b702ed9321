"""Hooks: how a pipeline package extends commands and routes that serve every pipeline.

`PipelinePackage` (in `forebay.packages`) names the objects; this module defines their types:

    jobs       JobHooks       how the jobs of one pipeline are submitted, reprocessed, shown and exported
    checks     Check          the checks of `forebay doctor`
    demo       Demo           what the first `forebay up` submits
    chores     ChoreFunction  periodic work
    outside_views  OutsideViews  views in other schemas, which a restore keeps
    suggestions    Suggest       what `GET /api/suggest` returns while a user types
    owner_export   OwnerExport   what it adds to `GET /api/me/export`, an owner's archive
    search         SearchSource  the kinds of documents that it puts into the index of `GET /api/search`
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pydantic import BaseModel
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from forebay.api.auth.authentication import Principal
    from forebay.api.idempotency import Idempotency
    from forebay.api.models import NewJob
    from forebay.db.pool import Connection
    from forebay.engine.declare.context import Context
    from forebay.settings import Settings

Level = Literal["OK", "WARN", "FAIL"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of `forebay doctor`; `fix` says what to do about it."""

    level: Level
    about: str
    text: str
    fix: str | None = None


class Check(Protocol):
    """Checks what a package needs: programs, files, servers. Returns nothing if none of it is configured."""

    async def __call__(self, settings: Settings, /) -> Sequence[Finding]: ...


class Demo(Protocol):
    """Submits sample work to a database without jobs; returns a description, as in "job 7 with rows to look up", or
    None. It may run again after a crash, so it must use keys to avoid duplicates."""

    async def __call__(self, conn: Connection, settings: Settings, owner: str, /) -> str | None: ...


@dataclass(frozen=True, slots=True)
class OutsideViews:
    """Views outside of the schema `forebay` that read its tables. A restore keeps them: when the tables have been
    replaced, it calls `refresh`, which replaces those that are there."""

    names: Sequence[str]
    refresh: Callable[[Connection], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to go to. `score` is 1 for what begins with the text, less for what only contains something similar."""

    kind: str
    id: str
    title: str
    detail: str | None
    score: float
    job_id: str | None = None  # the job that it stands for, which is not suggested besides


class Suggest(Protocol):
    """Suggests up to `most` things of an owner for a text that a user types; `conn` sees what the caller may see.

    It runs with each key that is pressed: read indexes, or a bounded number of rows.
    """

    async def __call__(self, conn: Connection, owner_id: int, text: str, most: int, /) -> Sequence[Suggestion]: ...


Connect: TypeAlias = "Callable[[], AbstractAsyncContextManager[Connection]]"
"""Opens a connection that sees what an owner may see."""


class OwnerExport(Protocol):
    """The files that a package adds to the archive of an owner: their contents, by name. Use a connection for each page
    of rows, not for all, because the reader of the archive may be slow."""

    def __call__(self, connect: Connect, owner_id: int, /) -> Mapping[str, AsyncIterator[str]]: ...


@dataclass(frozen=True, slots=True)
class SearchKind:
    """A kind of documents in the index. `title` names several of them; `path` is the page of one in the web app, where
    `{ref}` stands for its reference; `timed`: the page takes a second to jump to in the query parameter `t`; `plain`
    removes the marks of its texts, such as Markdown's, from what is shown of a hit."""

    name: str
    title: str
    path: str
    timed: bool = False
    plain: Callable[[str], str] | None = None


class SearchBackfill(Protocol):
    """Puts up to `most` documents that were there before the index into it, those after a position; returns the
    position after them, None at the end. Each call is a transaction: a call may be repeated."""

    async def __call__(self, conn: Connection, after: str | None, most: int, /) -> str | None: ...


@dataclass(frozen=True, slots=True)
class SearchSource:
    """The documents of a package: its kinds, and how those are added that were there before the index."""

    kinds: Sequence[SearchKind]
    backfill: Mapping[str, SearchBackfill] = field(default_factory=dict[str, "SearchBackfill"])  # by kind


ChoreFunction: TypeAlias = "Callable[[Context], Awaitable[Any]]"
"""Runs a chore; its return value, such as a count, is the result of its job."""

Answer: TypeAlias = tuple[int, dict[str, Any]]
"""The status and the body of an API response."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of `forebay export`."""

    format: Literal["jsonl", "csv", "xlsx"]
    statuses: Sequence[str] | None = None  # None: all
    groups: Sequence[str] = ()  # of additional columns: the values of `--with`
    raw: bool = False  # do not escape values that a spreadsheet would run as formulas


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """The target of an export: `write` takes its bytes, `progress` takes the number of the last completed item."""

    write: Callable[[bytes], Coroutine[Any, Any, None]]
    progress: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """The number of written items, and remarks about the file."""

    items: int
    notes: Sequence[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Subject:
    """What a job is about: a thing of the package. `kind` is the name of its kind in the API, `id` its id there."""

    kind: str
    id: str
    title: str | None
    parent_id: int | None = None  # the job that this one belongs to, as an export belongs to the job that it exports


class JobHooks:
    """Extensions for the jobs of one pipeline. Each method has a default: override those that you need.

    All methods run with the rights of the caller: `conn` sees only rows that the caller may see. Raise `RequestError`
    or
    `Problem` to reject a request.
    """

    reprocess_options: type[BaseModel] | None = None
    """Additional fields of `POST /api/jobs/ID/reprocess` for these jobs."""

    async def submit_upload(
        self, request: Request, form: FormData, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        """Take a whole file that `POST /api/jobs` receives as a form. None: each row of the file is an item."""
        return None

    async def submit_reference(
        self, request: Request, body: NewJob, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        """Take a file that `POST /api/jobs` names in `file`, instead of items. None: not supported by this pipeline."""
        return None

    async def before_reprocess(self, conn: Connection, settings: Settings, job_id: int, options: Any) -> None:
        """Prepare a reprocess, in its transaction; `options` is a `reprocess_options`, or None."""

    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        """What these jobs are about, by job; called once for all jobs of a page."""
        return {}

    async def problem(self, conn: Connection, job_id: int) -> str | None:
        """Why a job as a whole could not be processed, for `forebay job`."""
        return None

    async def export(
        self, conn: Connection, job_id: int, options: ExportOptions, target: ExportTarget
    ) -> Exported | None:
        """Write a job to a file for `forebay export`. None: write its items, with input and result."""
        return None
