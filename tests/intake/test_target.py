"""Targets: what they are called, what they accept, and parts that are put together."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic_settings import SettingsConfigDict

from forebay.db.schema_parts import ENGINE, SERVICE, parts_for
from forebay.errors import DataError
from forebay.intake.db import FilePart, IntakeFile
from forebay.intake.parts import joined, part_key
from forebay.intake.settings import IntakeSettings
from forebay.intake.target import IntakeTarget
from forebay.packages import PipelinePackage, failures, intake_targets
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.storage.spool import spooled
from tests._packages import installed

NOW = datetime(2026, 11, 1, tzinfo=UTC)


class PhotosSettings(IntakeSettings):
    model_config = SettingsConfigDict(env_prefix="FOREBAY_PHOTOS_")


PHOTOS = IntakeTarget(name="photos", settings=PhotosSettings, media_types=("image/*", "application/zip"))


def test_a_target_has_names_of_its_own() -> None:
    assert (PHOTOS.pipelines, PHOTOS.receiving, PHOTOS.scanning) == (("photos",), "photos_intake", "photos_scans")
    assert (PHOTOS.uploads_path, PHOTOS.sources_path) == ("/api/photos/uploads", "/api/photos")
    assert PHOTOS.schedule_prefix == "scan photos "


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.jpg", None),
        ("all.zip", None),
        ("a.txt", "is text/plain; accepted are image/*, application/zip"),
        ("a", "is application/octet-stream; accepted are image/*, application/zip"),
    ],
)
def test_files_are_accepted_by_their_names(name: str, why: str | None) -> None:
    assert PHOTOS.check_name(Settings(), name) == why


@pytest.mark.parametrize(("own", "most"), [(None, 2048), (50, 50), (4096, 2048)])
def test_the_limit_of_the_api_is_never_exceeded(own: int | None, most: int) -> None:
    settings = Settings(api_max_upload_bytes=2048).including(PhotosSettings(max_file_bytes=own))
    assert PHOTOS.max_bytes(settings) == most


def test_the_steps_of_every_target_need_the_service() -> None:
    assert parts_for(["forebay.intake.receiving"]) == (ENGINE, *SERVICE)


MANIFEST = """
from forebay.packages import PipelinePackage
package = PipelinePackage("{name}", __name__, intake={{"{target}": "files:FILES"}})
"""
FILES = """
from pydantic_settings import SettingsConfigDict
from forebay.intake.settings import IntakeSettings
from forebay.intake.target import IntakeTarget
FILES = IntakeTarget(name="sheets", settings=IntakeSettings)
"""


def test_a_target_is_known_by_one_name_and_belongs_to_one_package(tmp_path: Path) -> None:
    with installed(tmp_path) as found:
        for name, target in (("also", "sheets"), ("odd", "other")):
            found.add(name, {"__init__.py": MANIFEST.format(name=name, target=target), "files.py": FILES})
        assert "sheets" in intake_targets()
        assert "other" not in intake_targets()
        assert sorted(each.reason for each in failures()) == [
            "DefinitionError: also declares the intake target 'sheets', which another package has",
            "DefinitionError: odd declares the intake target 'sheets' as 'other'",
        ]


def test_a_package_without_targets() -> None:
    assert list(PipelinePackage("plain", "plain").intake_targets()) == []


# Parts.


def incoming(size: int) -> IntakeFile:
    about = {"target": "photos", "reference": 7, "owner_id": 1, "job_id": 7, "intake_job_id": None, "name": "a.jpg"}
    rest = dict.fromkeys(("source", "path", "version", "file_id", "problem", "received_at"))
    return IntakeFile(**about, **rest, size=size, options={}, created_at=NOW, received=size)  # type: ignore[arg-type]


async def test_parts_are_put_together_and_compared_with_their_hashes(tmp_path: Path) -> None:
    store, parts, start = open_store(Settings(data_dir=tmp_path)), list[FilePart](), 0
    for name, data in (("one", b"first "), ("two", b"second")):
        async with spooled(data, store.spool) as spool:
            await store.put(part_key(7, name), spool, "application/octet-stream")
        parts.append(FilePart(start, len(data), name, hashlib.sha256(data).digest()))
        start += len(data)
    assert b"".join([chunk async for chunk in joined(store, incoming(12), parts)]) == b"first second"
    with pytest.raises(DataError, match=r"^a.jpg is incomplete: send it again$"):
        _ = [chunk async for chunk in joined(store, incoming(13), parts)]
    parts[1] = FilePart(6, 6, "two", bytes(32))
    with pytest.raises(DataError, match=r"^a.jpg was damaged in the store at byte 6: send it again$"):
        _ = [chunk async for chunk in joined(store, incoming(12), parts)]
    parts[1] = FilePart(6, 6, "two")  # stored before hashes were kept
    assert len([chunk async for chunk in joined(store, incoming(12), parts)]) == 2
