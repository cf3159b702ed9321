"""Hooks: how a pipeline package takes part in commands and routes that serve every pipeline.

`PipelinePackage` (in `forebay.packages`) names the objects; here is what they must be:

    jobs       JobHooks    what is different about the jobs of one pipeline: submitted, reprocessed, shown, exported
    checks     Check       what `forebay doctor` looks at
    demo       Demo        what the first `forebay up` submits
    chores     ChoreFunction  periodic work
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
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
    """One thing that `forebay doctor` has looked at; `fix` is what to do about it."""

    level: Level
    about: str
    text: str
    fix: str | None = None


class Check(Protocol):
    """Looks at what a package needs: programs, files, servers. Answers nothing when nothing of it is configured."""

    async def __call__(self, settings: Settings, /) -> Sequence[Finding]: ...


class Demo(Protocol):
    """Submits something worth looking at to a database without jobs; answers what, as in "job 7 with rows to look up",
    or None. It may run again after a crash: keys keep it from submitting the same twice."""

    async def __call__(self, conn: Connection, settings: Settings, owner: str, /) -> str | None: ...


ChoreFunction: TypeAlias = "Callable[[Context], Awaitable[Any]]"
"""Runs a chore; answers what is kept as the result of its job, as a count."""

Answer: TypeAlias = tuple[int, dict[str, Any]]
"""The status and the body of an answer of the API."""


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What `forebay export` was asked for."""

    format: Literal["jsonl", "csv", "xlsx"]
    statuses: Sequence[str] | None = None  # None: all
    groups: Sequence[str] = ()  # of columns besides the usual ones: what `--with` names
    raw: bool = False  # leave what a spreadsheet would run as a formula as it is


@dataclass(frozen=True, slots=True)
class ExportTarget:
    """Where an export goes: `write` takes its bytes, `progress` is told the number of the last item that is done."""

    write: Callable[[bytes], Coroutine[Any, Any, None]]
    progress: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Exported:
    """How many items were written, and what else is to be said about the file."""

    items: int
    notes: Sequence[str] = field(default_factory=list[str])


class JobHooks:
    """What is different about the jobs of one pipeline. Each method has a default: override those that are needed.

    All run as whoever asks: `conn` sees only rows that they may see. `RequestError` and `Problem` reject a request.
    """

    reprocess_options: type[BaseModel] | None = None
    """Fields that `POST /api/jobs/ID/reprocess` takes for these jobs besides its own."""

    async def submit_upload(
        self, request: Request, form: FormData, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        """Take a whole file that `POST /api/jobs` brings as a form. None: each row of the file is an item."""
        return None

    async def submit_reference(
        self, request: Request, body: NewJob, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        """Take a file that `POST /api/jobs` names in `file`, instead of items. None: this pipeline takes no such."""
        return None

    async def before_reprocess(self, conn: Connection, settings: Settings, job_id: int, options: Any) -> None:
        """Prepare a reprocess, in its transaction; `options` is a `reprocess_options`, or None if there are none."""

    async def problem(self, conn: Connection, job_id: int) -> str | None:
        """Why a job as a whole could not be worked on, for `forebay job`."""
        return None

    async def export(
        self, conn: Connection, job_id: int, options: ExportOptions, target: ExportTarget
    ) -> Exported | None:
        """Write a job to a file for `forebay export`. None: its items are written, with input and result."""
        return None
