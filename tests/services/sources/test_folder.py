"""Folders: nothing but files, and none from elsewhere."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError, DataError, ResourceError, TransientError
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.egress import UrlNotFound
from forebay.services.sources import SettingNames, SourceFile, SourceSpec, open_source
from forebay.services.sources import folder as module
from forebay.settings import Settings
from tests.services.sources._shelves import OLD, Shelf
from tests.services.sources.test_sources import look, whole


@pytest.fixture
def shelf(folder: Path) -> Shelf:
    return Shelf("folder", folder.as_uri(), folder, {"settle_s": 0, "recursive": True})


@pytest.fixture
def roots(folder: Path) -> list[Path]:
    return [Path("/nowhere"), folder]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a file that looks like the one of the tests."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "a.csv").write_bytes(b"not yours")
    os.utime(made / "a.csv", (OLD, OLD))
    return made


def opened(declared: SourceSpec, roots: Sequence[Path]) -> Any:
    return open_source(
        declared, None, Settings(), roots=roots, names=SettingNames("FOREBAY_SHEETS_SOURCES", "FOREBAY_SHEETS_ROOTS")
    )


def descriptors() -> set[str]:
    """What this process has open."""
    return {each.name for each in Path("/proc/self/fd").iterdir()}


async def test_only_files(shelf: Shelf, roots: Sequence[Path], folder: Path, outside: Path) -> None:
    await shelf.put("a.csv")
    (folder / "file.csv").symlink_to(outside / "a.csv")
    (folder / "sub").symlink_to(outside)
    (folder / "loop").symlink_to(".")
    os.mkfifo(folder / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket.csv"))
        async with opened(shelf.declare(), roots) as source:
            assert set(await look(source)) == {"a.csv"}
            assert {each.name: each.reason for each in source.scan.left_out} == {
                "file.csv": "is a symbolic link",
                "sub": "is a symbolic link",
                "loop": "is a symbolic link",
                "pipe.csv": "is a device, pipe or socket",
                "socket.csv": "is a device, pipe or socket",
            }


async def test_names_that_cannot_be_seen(shelf: Shelf, roots: Sequence[Path]) -> None:
    for name in (b"bell\x07.csv", b"line\n.csv", b"\xff.csv", "\u202eabc.csv".encode()):
        await shelf.put(os.fsdecode(name))
    async with opened(shelf.declare(), roots) as source:
        assert await look(source) == {}
        names = {r"bell\x07.csv", r"line\n.csv", r"\udcff.csv", r"\u202eabc.csv"}
        assert {each.name for each in source.scan.left_out} == names


async def test_very_deep_and_very_long(shelf: Shelf, roots: Sequence[Path]) -> None:
    await shelf.put("/".join(["d"] * 22) + "/a.csv")
    long = "/".join(["n" * 250] * 4)
    await shelf.put(f"{long}/a.csv")
    async with opened(shelf.declare(), roots) as source:
        assert await look(source) == {}
        reasons = [each.reason for each in source.scan.left_out]
        assert sorted(reasons) == ["has a path of more than 1000 characters", "is nested more than 20 folders deep"]


async def test_a_file_that_becomes_a_link(shelf: Shelf, roots: Sequence[Path], folder: Path, outside: Path) -> None:
    await shelf.put("a.csv", b"it's mine")
    async with opened(shelf.declare(after="delete"), roots) as source:
        (found,) = (await look(source)).values()
        (folder / "a.csv").unlink()
        (folder / "a.csv").symlink_to(outside / "a.csv")
        with pytest.raises(DataError, match="is a symbolic link, or behind one: links are not followed"):
            await whole(source, found)
        assert not await source.done("a.csv", found.version)
    assert (outside / "a.csv").exists()


async def test_a_folder_that_becomes_a_link(shelf: Shelf, roots: Sequence[Path], folder: Path, outside: Path) -> None:
    await shelf.put("sub/a.csv", b"it's mine")
    async with opened(shelf.declare(after="delete"), roots) as source:
        (found,) = (await look(source)).values()
        shutil.rmtree(folder / "sub")
        (folder / "sub").symlink_to(outside)
        with pytest.raises(DataError, match="is a symbolic link, or behind one"):
            await whole(source, found)
        with pytest.raises(DataError, match="is a symbolic link, or behind one"):
            await source.done("sub/a.csv", found.version)
    assert (outside / "a.csv").exists()


async def test_a_folder_that_becomes_a_link_within_the_scan(
    shelf: Shelf, roots: Sequence[Path], folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the entry and the opening of it."""
    await shelf.put("sub/mine.csv")
    usual = os.open

    def swapping(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if path == "sub" and not (folder / "sub").is_symlink():
            shutil.rmtree(folder / "sub")
            (folder / "sub").symlink_to(outside)
        return usual(path, flags, *args, **named)

    monkeypatch.setattr(os, "open", swapping)
    async with opened(shelf.declare(), roots) as source:
        assert await look(source) == {}
        assert source.scan.left_out[0].reason.startswith("cannot be opened: ")


async def test_a_folder_that_goes_within_the_scan(
    shelf: Shelf, roots: Sequence[Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shelf.put("sub/gone.csv")
    await shelf.put("a.csv")
    usual = os.open

    def removing(path: Any, flags: int, *args: Any, **named: Any) -> int:
        if path == "sub":
            shutil.rmtree(folder / "sub")
        return usual(path, flags, *args, **named)

    monkeypatch.setattr(os, "open", removing)
    async with opened(shelf.declare(), roots) as source:
        assert set(await look(source)) == {"a.csv"}


async def test_a_file_that_becomes_a_pipe(shelf: Shelf, roots: Sequence[Path], folder: Path) -> None:
    """Opening one waits for somebody who writes, if it is not done rightly."""
    os.mkfifo(folder / "a.csv")
    async with opened(shelf.declare(), roots) as source:
        with pytest.raises(DataError, match=r"a\.csv is a device, pipe or socket, not a file"):
            await whole(source, SourceFile("a.csv", 1, source.scan.now, "1-1"))


async def test_files_are_not_moved_through_links(
    shelf: Shelf, roots: Sequence[Path], folder: Path, outside: Path
) -> None:
    await shelf.put("a.csv", b"it's mine")
    (folder / "taken").symlink_to(outside)
    async with opened(shelf.declare(after="move"), roots) as source:
        found = (await look(source))["a.csv"]
        with pytest.raises(DataError, match="is a symbolic link, or behind one"):
            await source.done("a.csv", found.version)
    assert (folder / "a.csv").exists()
    assert os.listdir(outside) == ["a.csv"]  # noqa: PTH208


async def test_a_file_that_shrinks(shelf: Shelf, roots: Sequence[Path], folder: Path) -> None:
    await shelf.put("a.bin", b"x" * (3 << 20))
    async with opened(shelf.declare(), roots) as source:
        (found,) = (await look(source)).values()
        with pytest.raises(DataError, match="has changed meanwhile"):  # noqa: PT012
            async for _ in source.read("a.bin", found.version):
                os.truncate(folder / "a.bin", 10)


async def test_a_file_that_shrinks_and_says_it_did_not(shelf: Shelf, roots: Sequence[Path], folder: Path) -> None:
    await shelf.put("a.bin", b"x" * (3 << 20))
    async with opened(shelf.declare(), roots) as source:
        (found,) = (await look(source)).values()
        with pytest.raises(TransientError, match=r"a\.bin ended after 5 of 3145728 bytes"):
            source._check_end("a.bin", 5, found.size, changed=False)


async def test_roots(roots: Sequence[Path], folder: Path, outside: Path, tmp_path: Path) -> None:
    """A root may be reached by a link of the operator's; what lies under it may not be one."""
    (folder / "link").symlink_to(outside)
    (tmp_path / "root").symlink_to(outside)

    def declare(where: Path) -> SourceSpec:
        return Shelf("folder", where.as_uri(), where).declare(settle_s=0)

    async with opened(declare(folder / "link"), roots) as source:
        with pytest.raises(DataError, match="is a symbolic link, or behind one"):
            await look(source)
    async with opened(declare(folder / "gone"), roots) as source:
        with pytest.raises(ConfigError, match="gone does not exist"):
            await look(source)
    async with opened(declare(tmp_path / "root"), [tmp_path / "root"]) as source:
        assert set(await look(source)) == {"a.csv"}
    async with opened(declare(tmp_path / "none"), [tmp_path / "none"]) as source:
        with pytest.raises(ConfigError, match=r"there is no folder .*none, which FOREBAY_SHEETS_ROOTS names"):
            await look(source)
    with pytest.raises(
        ConfigError, match=r"source shelf: url: .*outside is not under /nowhere, .*drop, which FOREBAY_"
    ):
        async with opened(declare(outside), roots):
            pass
    with pytest.raises(ConfigError, match="folders are not allowed until FOREBAY_SHEETS_ROOTS names"):
        async with opened(declare(outside), []):
            pass


def test_roots_are_whole_paths() -> None:
    for wrong in ("srv/drop", "/srv/../etc"):
        with pytest.raises(ValueError, match=r"is not an absolute path such as /srv/drop"):
            SheetsSettings(roots=wrong)


@pytest.mark.parametrize(
    ("number", "is_root", "kind"),
    [
        (errno.ENOENT, False, UrlNotFound),
        (errno.ENOENT, True, ConfigError),
        (errno.EACCES, False, ConfigError),
        (errno.EROFS, False, ConfigError),
        (errno.ELOOP, False, DataError),
        (errno.ENOSPC, False, ResourceError),
        (errno.EIO, False, TransientError),
        (errno.ESTALE, True, TransientError),
    ],
)
def test_troubles(number: int, is_root: bool, kind: type[Exception]) -> None:
    told = module._step_error("file:///srv/drop/a.csv", OSError(number, "it"), is_root=is_root)
    assert type(told) is kind
    assert str(told).startswith("file:///srv/drop/a.csv ")


async def test_who_gives_up_leaves_nothing_open(
    shelf: Shelf, roots: Sequence[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that still reads keeps its descriptor until it is done, and then it is closed."""
    await shelf.put("sub/a.bin", b"x" * (3 << 20))
    reading, go_on = threading.Event(), threading.Event()
    usual = os.read

    def held(file: int, size: int) -> bytes:
        reading.set()
        assert go_on.wait(30)
        return usual(file, size)

    async with opened(shelf.declare(), roots) as source:
        before = descriptors()
        (found,) = (await look(source)).values()
        monkeypatch.setattr(os, "read", held)
        task = asyncio.create_task(whole(source, found))
        await asyncio.to_thread(reading.wait, 30)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # once more, while it waits
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert descriptors() == before


async def test_a_scan_is_left_early(shelf: Shelf, roots: Sequence[Path]) -> None:
    for number in range(600):  # more than a thread finds at once
        await shelf.put(f"{number % 7}/{number}.csv")
    async with opened(shelf.declare(), roots) as source:
        before = descriptors()
        listing = source.list()
        await anext(listing)
        await listing.aclose()
        assert descriptors() == before
        assert len(await look(source)) == 600
