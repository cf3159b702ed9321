"""Sheets as a target of files: tables and pictures."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from pydantic_core import to_json

from forebay.engine.submit.job_stream import SourceRows
from forebay.errors import DataError
from forebay.intake.target import IntakeTarget
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.spreadsheets import detect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from pydantic import BaseModel

    from forebay.db.pool import Connection, Pool
    from forebay.intake.db import AddedFile, FileTerms, IntakeFile, NewFile
    from forebay.intake.target import ReceivedFile
    from forebay.settings import Settings
    from forebay.types import Write


class SheetTarget(IntakeTarget):
    """Each file has a row of its own in `sheet`, and its rows become the items of its job."""

    def check_content(self, file: IO[bytes]) -> None:
        found = detect(file)
        if found.kind == "unknown":
            raise DataError(found.reason)

    async def check_options(self, conn: Connection, settings: Settings, options: BaseModel) -> None:
        from forebay.pipelines.sheets.known_providers import check_providers  # noqa: PLC0415 - workers need no API

        assert isinstance(options, SheetOptions)  # noqa: S101 - the intake validates them
        await check_providers(conn, settings, options.providers, "options.providers")

    async def add(self, conn: Connection, owner_id: int, new: NewFile, terms: FileTerms) -> AddedFile:
        return await sheets.add(conn, owner_id, new, terms)

    def complete(self, file: IntakeFile, received: ReceivedFile) -> Sequence[Write]:
        """The rows are read by the next step."""
        return [sheets.write_file(file.reference, int(received.file_id))]

    def failed(self, file: IntakeFile, reason: str) -> SourceRows:
        return unreadable(file.reference, file.name, reason)

    async def tidy(self, pool: Pool, grace: timedelta, now: datetime | None = None) -> list[str]:
        return (await sheets.tidy(pool, grace, now))[1]


FILES = SheetTarget(
    name="sheets",
    settings=SheetsSettings,
    pipelines=("sheets", "sheet_images", "catalogue_rows"),
    file_kinds="CSV, XLSX, a picture, or a ZIP of pictures",
    options=SheetOptions,
    options_table="sheet",
    keeps_files=True,
    receiving="sheet_intake",
    scanning="sheet_scans",
    schedule_prefix="scan ",
    uploads_path="/api/uploads",
    sources_path="/api/ingestion",
    reference_field="sheetId",
)


def unreadable(sheet_id: int, name: str, reason: str) -> SourceRows:
    """What a file that cannot be read leaves: an item that says why, as the sheet does."""
    told = broken_row(0, name, reason)
    told.writes[0] = sheets.write_read(sheet_id, reason)
    return told


def broken_row(line: int, name: str, reason: str) -> SourceRows:
    """A row, or a picture, that becomes an item in error."""
    return SourceRows([to_json({"line": line, "excerpt": name[:200]})], faults={0: reason})
