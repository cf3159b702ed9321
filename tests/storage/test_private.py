"""Other accounts of the machine learn nothing of what is kept: neither contents nor names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.embedded.system import opened_log
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.storage.spool import spooled


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """As most accounts begin: new files are for everyone."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_blobs_are_not_listed_by_others(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path))
    async with spooled(b"x" * (3 << 20), store.spool) as spool:
        assert mode(tmp_path / "blobs") == 0o700
        await store.put("ab/cdef", spool, "text/plain")
    folders = [tmp_path / "blobs", *(path for path in (tmp_path / "blobs").rglob("*") if path.is_dir())]
    assert {mode(folder) for folder in folders} == {0o700}
    assert mode(tmp_path / "blobs" / "ab" / "cdef") == 0o600


async def test_folders_of_releases_before_are_closed(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    open_store(Settings(data_dir=tmp_path))
    open_store(Settings(data_dir=tmp_path, storage_url=str(tmp_path / "elsewhere")))
    assert mode(tmp_path / "blobs") == 0o700
    assert mode(tmp_path / "elsewhere") == 0o755  # its operator's


def test_logs_are_for_their_owner(tmp_path: Path) -> None:
    for name, before in (("new.log", None), ("old.log", "said before\n")):
        if before:
            (tmp_path / name).write_text(before)
        with opened_log(tmp_path / name) as log:
            log.write(b"said now\n")
        assert mode(tmp_path / name) == 0o600
        assert (tmp_path / name).read_text() == (before or "") + "said now\n"
    null = mode(Path(os.devnull))
    opened_log(Path(os.devnull)).close()
    assert mode(Path(os.devnull)) == null
