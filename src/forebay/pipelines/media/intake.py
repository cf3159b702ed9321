"""Uploads: files of the owners, which become shares without a download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import execute
from forebay.intake import db as intake_db
from forebay.intake.receiving import receiving_pipeline
from forebay.intake.scans import scan_pipeline
from forebay.intake.target import IntakeTarget
from forebay.pipelines.media.db import load
from forebay.pipelines.media.settings import MediaSettings
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection
    from forebay.engine.submit.job_stream import SourceRows
    from forebay.intake.db import AddedFile, FileTerms, IntakeFile, NewFile
    from forebay.intake.target import ReceivedFile
    from forebay.types import Write


class MediaTarget(IntakeTarget):
    """Each file has a share; once it is received, it is the item of the share's job."""

    async def add(self, conn: Connection, owner_id: int, new: NewFile, terms: FileTerms) -> AddedFile:
        added = await super().add(conn, owner_id, new, terms)
        if added.created:
            await execute(conn, load("add_upload"), owner_id, added.job_id, new.name)
        return added

    def complete(self, file: IntakeFile, received: ReceivedFile) -> Sequence[Write]:
        return [intake_db.write_item(file.job_id, {"file": received.model_dump(by_alias=True)})]

    def failed(self, file: IntakeFile, reason: str) -> SourceRows:
        told = super().failed(file, reason)
        told.writes[0] = Statement(load("write_upload_failure"), (file.job_id, reason))
        return told


FILES = MediaTarget(
    name="media",
    settings=MediaSettings,
    media_types=("video/*", "audio/*", "image/*"),
    file_kinds="a video, sound or a picture",
    keeps_files=True,
)
media_intake = receiving_pipeline(FILES)
media_scans = scan_pipeline(FILES)
