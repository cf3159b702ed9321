"""A pipeline package of somebody else that accepts files: three files, and no change of forebay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from forebay.engine.declare.pipeline import Pipeline
from forebay.testing import Testbed, testbed
from tests._packages import installed
from tests.api._service import Service, serving

PACKAGE = {
    "__init__.py": """
from forebay.packages import PipelinePackage
package = PipelinePackage(
    "notes", __name__, pipelines=("steps",), settings="settings:NotesSettings", intake={"notes": "steps:FILES"}
)
""",
    "settings.py": """
from pydantic_settings import SettingsConfigDict
from forebay.intake.settings import IntakeSettings

class NotesSettings(IntakeSettings):
    model_config = SettingsConfigDict(env_prefix="FOREBAY_NOTES_")
""",
    "steps.py": """
from pydantic import BaseModel
from forebay import Context, Pipeline, resources
from forebay.errors import InvalidField
from forebay.intake.receiving import receiving_pipeline
from forebay.intake.scans import scan_pipeline
from forebay.intake.target import IntakeTarget, ReceivedFile
from notes.settings import NotesSettings

class NoteOptions(BaseModel):
    language: str = "en"
    paused: bool = False

class NoteFiles(IntakeTarget):
    async def check_options(self, conn, settings, options):
        if options.language == "xx":
            raise InvalidField("options.language", "is no language")

FILES = NoteFiles(name="notes", settings=NotesSettings, media_types=("text/*",), options=NoteOptions)
notes = Pipeline("notes", ReceivedFile)
notes_intake, notes_scans = receiving_pipeline(FILES), scan_pipeline(FILES)

@notes.step()
async def count_words(ctx: Context, file: ReceivedFile) -> list[object]:
    content = await (await ctx.get(resources.blobs)).read(file.sha256)
    return [file.name, file.options.get("language", "en"), len(content.split())]
""",
}

SOURCE = """
name = "drop"
url = "file://{folder}"
owner = "ann"
settle_s = 0
after = "{after}"

[options]
language = "de"
"""


@asynccontextmanager
async def notes_service(dsn: str, tmp_path: Path, **given: Any) -> AsyncIterator[Notes]:
    """The API with the package, and a folder `drop` that is a source of it."""
    for name in ("site", "drop", "sources"):
        (tmp_path / name).mkdir()
    source = SOURCE.format(folder=tmp_path / "drop", after=given.pop("after", "keep"))
    (tmp_path / "sources" / "drop.toml").write_text(source)
    with installed(tmp_path / "site") as found:
        found.add("notes", PACKAGE)
        steps, kind = import_module("notes.steps"), import_module("notes.settings").NotesSettings
        settings = kind(sources=tmp_path / "sources", roots=str(tmp_path), **given)
        pipelines = [steps.notes, steps.notes_intake, steps.notes_scans]
        async with serving(dsn, *pipelines, packages=[settings], data_dir=tmp_path / "data") as service:
            yield Notes(service, pipelines)


class Notes:
    """The running service, and a worker for it."""

    def __init__(self, service: Service, pipelines: list[Pipeline[Any]]) -> None:
        self.service = service
        self.pipelines = pipelines

    async def work(self) -> None:
        async with self.worker() as bed:
            await bed.finish()

    def worker(self) -> AbstractAsyncContextManager[Testbed]:
        settings = self.service.app.state.settings
        return testbed(self.service.dsn, self.pipelines, migrated=True, settings=settings)

    async def results(self) -> list[Any]:
        """What became of the files, in the order of their jobs."""
        rows = await self.service.admin.fetch(
            """select coalesce(i.result -> 'count_words', i.error -> 'reason')::text as told
               from forebay.item i join forebay.pipeline p on p.id = i.pipeline_id
               where p.name = 'notes' and i.n = 1 order by i.job_id"""
        )
        return [row["told"] for row in rows]
