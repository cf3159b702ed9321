"""Targets: what a pipeline package declares to accept files.

    FILES = IntakeTarget(name="notes", settings=NotesSettings, media_types=("text/*",))
    notes_intake = receiving_pipeline(FILES)
    notes_scans = scan_pipeline(FILES)

The manifest names it: `PipelinePackage(..., pipelines=("steps", "intake"), intake={"notes": "intake:FILES"})`. The job
of a file is opened when the file is announced. Once the file is received, `complete` says what is written in the
transaction that ends the receiving: by default, the file becomes the only item of the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import IO, TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from forebay.engine.submit.job_stream import SourceRows
from forebay.intake import db
from forebay.intake.hooks import IntakeHooks
from forebay.storage.names import media_type

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from fastapi import APIRouter

    from forebay.db.pool import Connection, Pool
    from forebay.hooks import Finding
    from forebay.intake.db import AddedFile, FileTerms, IntakeFile, NewFile
    from forebay.intake.settings import IntakeSettings
    from forebay.settings import Settings
    from forebay.types import Write


class NoOptions(BaseModel):
    """For targets without options."""

    model_config = ConfigDict(extra="forbid")


class ReceivedFile(BaseModel):
    """A received and stored file: the input of its item."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    file_id: str
    name: str
    size: int
    sha256: str
    media_type: str
    options: dict[str, Any] = Field(default={}, description="options that were sent with the file")


@dataclass(frozen=True, kw_only=True, eq=False)
class IntakeTarget:
    """A pipeline that accepts files. Subclass it to override how a file is added, checked and completed."""

    name: str
    """The pipeline that files are submitted to, and the key of the target's rows in the database."""
    settings: type[IntakeSettings]
    pipelines: tuple[str, ...] = ()
    """All pipelines that jobs of its files can be in, the first one first; by default only `name`."""
    media_types: tuple[str, ...] = ()
    """The accepted media types, such as `image/*`, determined by file names; empty: all."""
    file_kinds: str = "any kind"
    """The accepted files, in words."""
    options: type[BaseModel] = NoOptions
    """The options of a file. If it has a field `paused` that is true, the job is paused."""
    options_table: str = "options"
    """The name of the table with these options in the declaration of a source."""
    keeps_files: bool = False
    """Stored files outlive their jobs: the target deletes them."""
    receiving: str = ""
    """The name of the pipeline that receives its files; `NAME_intake` if it is not given."""
    scanning: str = ""
    """The name of the pipeline that scans its sources; `NAME_scans` if it is not given."""
    schedule_prefix: str = ""
    """What the names of schedules of scans begin with; `scan NAME ` if it is not given."""
    uploads_path: str = ""
    """The path of uploads by tus; `/api/NAME/uploads` if it is not given."""
    sources_path: str = ""
    """The path above `sources` and `scan`; `/api/NAME` if it is not given."""
    reference_field: str = "uploadId"
    """The name of the reference in responses of the API."""

    def __post_init__(self) -> None:
        defaults = {
            "pipelines": (self.name,),
            "receiving": f"{self.name}_intake",
            "scanning": f"{self.name}_scans",
            "schedule_prefix": f"scan {self.name} ",
            "uploads_path": f"/api/{self.name}/uploads",
            "sources_path": f"/api/{self.name}",
        }
        for name, value in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or value)

    # Methods that a target can override.

    def check_name(self, settings: Settings, name: str) -> str | None:
        """Why a file of this name is not accepted; None when it is."""
        accepted = self.accepted_types(settings)
        if not accepted:
            return None
        kind = media_type(None, name)
        if any(fnmatchcase(kind, pattern) for pattern in accepted):
            return None
        return f"is {kind}; accepted are {', '.join(accepted)}"

    def accepted_types(self, settings: Settings) -> Sequence[str]:
        """The accepted media types, which may depend on settings."""
        return self.media_types

    def check_content(self, file: IO[bytes]) -> None:
        """Check the content of a file that is uploaded by form, before it is stored.

        Raises: DataError if it is not accepted.
        """

    async def check_options(self, conn: Connection, settings: Settings, options: BaseModel) -> None:
        """Check the options of a file that is sent over HTTP, before anything is stored.

        Raises: Problem or InvalidField if they are not accepted.
        """

    async def add(self, conn: Connection, owner_id: int, new: NewFile, terms: FileTerms) -> AddedFile:
        """Open the job of a file, or find the file with the same key; in the caller's transaction."""
        return await db.add(conn, self.name, self.pipelines, owner_id, new, terms)

    def complete(self, file: IntakeFile, received: ReceivedFile) -> Sequence[Write]:
        """The statements for the transaction that completes a received file."""
        return [db.write_item(file.job_id, received.model_dump(by_alias=True))]

    def failed(self, file: IntakeFile, reason: str) -> SourceRows:
        """The failed item of a file that was not received, which ends its job."""
        return SourceRows([to_json({"name": file.name})], faults={0: reason})

    async def tidy(self, pool: Pool, grace: timedelta, now: datetime | None = None) -> list[str]:
        """Delete expired rows; returns the keys of objects to delete."""
        return (await db.tidy(pool, self.name, grace, now, keeps_files=self.keeps_files))[1]

    # Methods that the service calls.

    def own_settings(self, settings: Settings) -> IntakeSettings:
        return settings.of(self.settings)

    def max_bytes(self, settings: Settings) -> int:
        """The maximum size of a file."""
        own = self.own_settings(settings).max_file_bytes
        return settings.api_max_upload_bytes if own is None else min(own, settings.api_max_upload_bytes)

    def routers(self) -> tuple[APIRouter, ...]:
        """Its routes for uploads by tus and for sources."""
        from forebay.intake.source_routes import source_router  # noqa: PLC0415 - only the API needs them
        from forebay.intake.tus import upload_router  # noqa: PLC0415

        return upload_router(self), source_router(self)

    def job_hooks(self) -> IntakeHooks:
        """How `POST /api/jobs` accepts its files."""
        return IntakeHooks(lambda: self)

    async def check_sources(self, settings: Settings) -> list[Finding]:
        """What `forebay doctor` reports about its sources."""
        from forebay.intake.source_checks import check  # noqa: PLC0415 - only doctor needs it

        return await check(self, settings)
