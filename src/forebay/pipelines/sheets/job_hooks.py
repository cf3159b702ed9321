"""The hooks for jobs of sheets: they are uploaded as files, exported as grids, and rotate providers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from forebay.api.models import Strict
from forebay.errors import InvalidField
from forebay.hooks import Exported, JobHooks, Subject
from forebay.intake.hooks import IntakeHooks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forebay.db.pool import Connection
    from forebay.hooks import ExportOptions, ExportTarget
    from forebay.intake.target import IntakeTarget
    from forebay.settings import Settings

# Imports are local to the hooks, because `forebay job` and `forebay export` need few of them.


class ReprocessedSheet(Strict):
    providers: list[Annotated[str, Field(max_length=50)]] | None = Field(
        default=None, max_length=50, description="for sheets: providers to query first; empty: in the declared order"
    )


class AboutSheets(JobHooks):
    """Jobs that are about a sheet. Those that do not process its rows belong to the job that does."""

    work: Literal["rows", "receiving", "export"] = "rows"

    async def subjects(self, conn: Connection, job_ids: Sequence[int]) -> Mapping[int, Subject]:
        from forebay.pipelines.sheets.db import sheets  # noqa: PLC0415

        return {
            row["job_id"]: Subject(
                "sheet", str(row["sheet_job_id"]), row["name"], None if self.work == "rows" else row["sheet_job_id"]
            )
            for row in await sheets.of_jobs(conn, job_ids, self.work)
        }


class ReceivingJobs(AboutSheets):
    work = "receiving"


class ExportJobs(AboutSheets):
    work = "export"


class SheetJobs(AboutSheets):
    reprocess_options = ReprocessedSheet

    async def before_reprocess(self, conn: Connection, settings: Settings, job_id: int, options: Any) -> None:
        """Query other providers first than the last time: the named ones, or else the next in rotation."""
        from forebay.api.problems import Problem  # noqa: PLC0415
        from forebay.pipelines.sheets.db import sheets  # noqa: PLC0415
        from forebay.pipelines.sheets.known_providers import check_providers  # noqa: PLC0415

        assert isinstance(options, ReprocessedSheet)  # noqa: S101 - the service checks it
        if options.providers is not None and not await sheets.change(conn, job_id, None, options.providers):
            raise Problem(422, "is only for jobs of sheets", field="providers")
        await sheets.rotate_providers(conn, job_id)
        await check_providers(conn, settings, options.providers)

    async def problem(self, conn: Connection, job_id: int) -> str | None:
        """Why the file could not be read."""
        from forebay.pipelines.sheets.db import sheets  # noqa: PLC0415

        sheet = await sheets.get(conn, job_id=job_id)
        return None if sheet is None else sheet.problem

    async def export(
        self, conn: Connection, job_id: int, options: ExportOptions, target: ExportTarget
    ) -> Exported | None:
        """Export the grid, as the API does."""
        from forebay.pipelines.sheets.db import grid as grids  # noqa: PLC0415
        from forebay.pipelines.sheets.grid_files import GridFile  # noqa: PLC0415

        if not await grids.is_sheet(conn, job_id):
            return None
        if wrong := [group for group in options.groups if group not in grids.GROUPS]:
            listed = ", ".join(grids.GROUPS)
            raise InvalidField("--with", f"there is no group of columns {wrong[0]!r}; there are {listed}")
        part = grids.GridSelection(options.statuses, show=options.groups)
        async with grids.reading(conn, job_id, part) as grid:
            file = GridFile(grid, options.format, raw=options.raw)
            await file.write(target.write, lambda _, upto: target.progress(upto))
        return Exported(file.rows, [_cut(file.cut)] if file.cut else [])


class SheetFiles(SheetJobs, IntakeHooks):
    """The same for the pipeline that files are submitted to; the others get them from it."""

    def __init__(self) -> None:
        super().__init__(_files)


def _files() -> IntakeTarget:
    from forebay.pipelines.sheets.files import FILES  # noqa: PLC0415

    return FILES


def _cut(count: int) -> str:
    from forebay.cli import _show as show  # noqa: PLC0415

    return f"{show.plural(count, 'cell')} too long for a workbook truncated: --format csv has the full text"
