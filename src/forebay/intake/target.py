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
    """The options of files about which there is nothing to say."""

    model_config = ConfigDict(extra="forbid")


class ReceivedFile(BaseModel):
    """A file that was received and stored: the input of the item that it becomes."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    file_id: str
    name: str
    size: int
    sha256: str
    media_type: str
    options: dict[str, Any] = Field(default={}, description="as they were given with the file")


@dataclass(frozen=True, kw_only=True, eq=False)
class IntakeTarget:
    """A pipeline that files come in for. Subclass it to override how a file is added, checked and completed."""

    name: str
    """The pipeline that files are submitted to, and the key of the target's rows in the database."""
    settings: type[IntakeSettings]
    pipelines: tuple[str, ...] = ()
    """Pipelines that the jobs of its files may be in, if there are more: the first is the one that files begin in."""
    media_types: tuple[str, ...] = ()
    """The media types that it accepts, as `image/*`, by the names of the files; none: all."""
    file_kinds: str = "any kind"
    """The same for people."""
    options: type[BaseModel] = NoOptions
    """What may be said about a file. A field `paused` that is true pauses its job."""
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
    """Where files are uploaded by tus; `/api/NAME/uploads` if it is not given."""
    sources_path: str = ""
    """Below this path are `sources` and `scan`; `/api/NAME` if it is not given."""
    reference_field: str = "uploadId"
    """The name of the reference in answers of the API."""

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

    # What a target may override.

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
        """The media types that it accepts, which may depend on settings."""
        return self.media_types

    def check_content(self, file: IO[bytes]) -> None:
        """Look at the content of a file that comes by form, before it is stored.

        Raises: DataError when it is not accepted.
        """

    async def check_options(self, conn: Connection, settings: Settings, options: BaseModel) -> None:
        """Look at what is said about a file that comes over HTTP, before anything is stored.

        Raises: Problem, or InvalidField, when it is not accepted.
        """

    async def add(self, conn: Connection, owner_id: int, new: NewFile, terms: FileTerms) -> AddedFile:
        """Open the job of a file, or find the file that has the key; in the caller's transaction."""
        return await db.add(conn, self.name, self.pipelines, owner_id, new, terms)

    def complete(self, file: IntakeFile, received: ReceivedFile) -> Sequence[Write]:
        """What is written in the transaction that ends the receiving of a file."""
        return [db.write_item(file.job_id, received.model_dump(by_alias=True))]

    def failed(self, file: IntakeFile, reason: str) -> SourceRows:
        """The item that tells why a file was not received, so that its job ends."""
        return SourceRows([to_json({"name": file.name})], faults={0: reason})

    async def tidy(self, pool: Pool, grace: timedelta, now: datetime | None = None) -> list[str]:
        """Delete what is over; answers the keys of objects that are to be deleted."""
        return (await db.tidy(pool, self.name, grace, now, keeps_files=self.keeps_files))[1]

    # What the service asks of it.

    def own_settings(self, settings: Settings) -> IntakeSettings:
        return settings.of(self.settings)

    def max_bytes(self, settings: Settings) -> int:
        """Most bytes that a file may have."""
        own = self.own_settings(settings).max_file_bytes
        return settings.api_max_upload_bytes if own is None else min(own, settings.api_max_upload_bytes)

    def routers(self) -> tuple[APIRouter, ...]:
        """Its routes: uploads by tus, and sources."""
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
