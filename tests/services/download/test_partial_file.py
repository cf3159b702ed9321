"""Partial files: who may write them, and what of them is believed."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from forebay.errors import DataError, ResourceError, ThrottledError, TransientError
from forebay.services.download import partial_file
from forebay.services.download.partial_file import open_partial
from forebay.services.download.receiving import receive

ROOT = Path(__file__).parents[3]


def _names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


async def test_what_was_written_is_hashed_again(tmp_path: Path) -> None:
    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v1", 6, {"url": "x"})
        await partial.append(b"abc")
    async with open_partial(tmp_path / "a") as partial:
        assert (partial.size, partial.journal.proof, partial.journal.about) == (3, "v1", {"url": "x"})
        await partial.append(b"def")
        assert partial.is_whole
        assert partial.sha256 == hashlib.sha256(b"abcdef").hexdigest()
        partial.discard()
    assert _names(tmp_path) == []


@pytest.mark.parametrize(
    "journal",
    [None, "", "{", "[]", "{}", '{"proof": null, "total": 3, "about": {}, "boot": ""}', {"total": 2}, {"boot": "b"}],
)
async def test_what_is_not_certain_is_begun_anew(tmp_path: Path, journal: str | dict[str, object] | None) -> None:
    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v1", None)
        await partial.append(b"abc")
    beside = tmp_path / "a.json"
    if journal is None:
        beside.unlink()
    else:
        beside.write_text(journal if isinstance(journal, str) else json.dumps(json.loads(beside.read_text()) | journal))
    async with open_partial(tmp_path / "a") as partial:
        assert (partial.size, partial.journal.proof) == (0, None)


async def test_one_attempt_at_a_time(tmp_path: Path) -> None:
    async with open_partial(tmp_path / "a"):
        with pytest.raises(ThrottledError) as raised:
            async with open_partial(tmp_path / "a"):
                pass
    assert str(raised.value) == "an earlier attempt is still writing the same partial file on this machine"
    assert raised.value.ours
    async with open_partial(tmp_path / "a"):
        pass


async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"precious")
    (tmp_path / "a").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        async with open_partial(tmp_path / "a"):
            pass
    assert (tmp_path / "other").read_bytes() == b"precious"


async def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int, _data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v", None)
        monkeypatch.setattr("forebay.services.download.partial_file.os.write", full)
        with pytest.raises(ResourceError, match=f"^cannot write to {tmp_path}: No space left on device$"):
            await partial.append(b"x")


_KILLED = """
import asyncio, sys
from pathlib import Path
from forebay.services.download import partial_file
from forebay.services.download.partial_file import open_partial

async def main():
    async with open_partial(Path(sys.argv[1])) as partial:
        await partial.begin("v1", None)
        await partial.append(b"abc")
        print("written", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def _write_and_die(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _KILLED, path], cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
        child.kill()


async def test_a_killed_attempt_leaves_all_that_it_wrote(tmp_path: Path) -> None:
    _write_and_die(tmp_path / "a")
    async with open_partial(tmp_path / "a") as partial:
        assert (partial.size, partial.journal.proof) == (3, "v1")


async def test_a_cancelled_write_is_finished_before_the_file_is_closed(tmp_path: Path) -> None:
    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v1", None)
        writing = asyncio.create_task(partial.append(b"x" * (8 << 20)))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert partial.size == partial.path.stat().st_size == 8 << 20


class Cut:
    """A source that is cut off after each of these many bytes."""

    def __init__(self, *lengths: int, body: bytes = b"0123456789") -> None:
        self._lengths, self._body = list(lengths), body
        self.offsets: list[int] = []

    async def read(self, offset: int) -> AsyncGenerator[bytes]:
        self.offsets.append(offset)
        if self._lengths:
            yield self._body[offset : offset + self._lengths.pop(0)]
            raise TransientError("cut off")
        yield self._body[offset:]


async def test_any_source_is_continued(tmp_path: Path) -> None:
    source = Cut(4, 0)
    async with open_partial(tmp_path / "a") as partial:
        with pytest.raises(TransientError, match="cut off"):  # nothing came: worth another attempt, not another try
            await receive(partial, "v1", source.read, name="x")
    async with open_partial(tmp_path / "a") as partial:
        await receive(partial, "v1", source.read, name="x")
        assert partial.path.read_bytes() == b"0123456789"
    assert source.offsets == [0, 4, 4]
    other = Cut(body=b"other")
    async with open_partial(tmp_path / "a") as partial:
        await receive(partial, "v2", other.read, name="x")
        assert (partial.path.read_bytes(), other.offsets) == (b"other", [0])


async def test_a_source_that_is_too_large(tmp_path: Path) -> None:
    async with open_partial(tmp_path / "a") as partial:
        with pytest.raises(DataError, match=r"^x has more than 9 bytes, the maximum$"):
            await receive(partial, "v1", Cut().read, name="x", max_bytes=9)
    assert _names(tmp_path) == []


async def test_a_block_whose_append_is_cancelled_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is cancelled: the thread ends before the file is closed, and the next attempt continues."""
    writing, go_on = threading.Event(), threading.Event()
    write = os.write

    def slow(fd: int, data: bytes) -> int:
        writing.set()
        assert go_on.wait(10)
        return write(fd, data)

    async def content(offset: int) -> AsyncGenerator[bytes]:
        yield (b"a" * (256 << 10) + b"b" * 10)[offset:]

    async def attempt() -> None:
        async with open_partial(tmp_path / "a") as partial:
            await receive(partial, "v1", content, name="it")

    monkeypatch.setattr(os, "write", slow)
    task = asyncio.ensure_future(attempt())
    await asyncio.to_thread(writing.wait, 10)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.undo()
    await attempt()
    assert (tmp_path / "a").read_bytes() == b"a" * (256 << 10) + b"b" * 10


async def test_a_file_that_the_store_has_already_is_not_written_to(tmp_path: Path) -> None:
    """An adoption was killed between the link and the end of the partial file."""
    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v1", 3)
        await partial.append(b"abc")
    (tmp_path / "blob").hardlink_to(tmp_path / "a")
    async with open_partial(tmp_path / "a") as partial:
        assert partial.is_whole
        await partial.begin("v2", 2)
        await partial.append(b"de")
        with pytest.raises(ThrottledError):
            async with open_partial(tmp_path / "a"):
                pass
    assert (tmp_path / "blob").read_bytes() == b"abc"
    assert (tmp_path / "a").read_bytes() == b"de"


async def test_nothing_is_continued_where_starts_of_the_machine_cannot_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_file, "_BOOT_ID", tmp_path / "none")
    async with open_partial(tmp_path / "a") as partial:
        await partial.begin("v1", 3)
        await partial.append(b"abc")
    async with open_partial(tmp_path / "a") as partial:
        assert (partial.size, partial.journal.proof) == (0, None)
