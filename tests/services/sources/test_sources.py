"""What holds for every source: a folder, S3, FTP in all its kinds, SFTP."""

# demands: S5-118, S5-137

from __future__ import annotations

import time
from contextlib import aclosing
from typing import Any

import pytest

from forebay.errors import ConfigError, DataError, TransientError
from forebay.services.egress import Refused, UrlNotFound, open_egress
from forebay.services.sources import Source, SourceFile, SourceSpec, open_source
from forebay.settings import Settings
from tests.services.sources._shelves import ENVIRON, Shelf
from tests.services.sources.conftest import Opens

LARGE = bytes(range(256)) * (48 << 12)  # 48 MiB: more than all buffers on the way hold


async def look(source: Source) -> dict[str, SourceFile]:
    return {found.path: found async for found in source.list()}


async def whole(source: Source, found: SourceFile, offset: int = 0) -> bytes:
    async with aclosing(source.read(found.path, found.version, offset)) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def test_files_are_found_by_patterns(shelf: Shelf, opens: Opens) -> None:
    for path in ("a.csv", "B.CSV", "c.txt", ".hidden.csv", "sub/d.csv", "sub/deep/e.csv", "taken/f.csv", ".git/g.csv"):
        await shelf.put(path, path.encode())
    async with opens(shelf.declare(patterns="*.csv")) as source:
        found = await look(source)
        assert {path: each.size for path, each in found.items()} == {"a.csv": 5, "B.CSV": 5}
        assert await look(source) == found  # the same versions: nothing is taken twice
    async with opens(shelf.declare(patterns="*.csv", recursive=True, after="move")) as source:
        assert set(await look(source)) == {"a.csv", "B.CSV", "sub/d.csv", "sub/deep/e.csv"}
    async with opens(shelf.declare(patterns=["sub/**/*.csv", "*.txt"], recursive=True)) as source:
        assert set(await look(source)) == {"c.txt", "sub/d.csv", "sub/deep/e.csv"}


async def test_names_of_people(shelf: Shelf, opens: Opens) -> None:
    names = {"Größe & Preis (neu).csv", "価格\u3000表.csv", "a'b;c%20d.csv", "x=1 #2.csv"}
    for name in names:
        await shelf.put(name, name.encode())
    async with opens(shelf.declare(after="delete")) as source:
        found = await look(source)
        assert set(found) == names
        for name in names:
            assert await whole(source, found[name]) == name.encode()
            assert await source.done(name, found[name].version)
    assert await shelf.paths() == set()


async def test_a_file_is_read_from_anywhere(shelf: Shelf, opens: Opens) -> None:
    content = bytes(range(256)) * 5000
    await shelf.put("a.bin", content)
    await shelf.put("empty", b"")
    async with opens(shelf.declare()) as source:
        found = await look(source)
        assert await whole(source, found["a.bin"]) == content
        assert await whole(source, found["a.bin"], 1_000_001) == content[1_000_001:]
        assert await whole(source, found["a.bin"], len(content)) == b""
        assert await whole(source, found["empty"]) == b""


async def test_who_is_cut_off_goes_on(remote: Shelf, opens: Opens) -> None:
    await remote.put("large.bin", LARGE)
    cuts = 0
    async with opens(remote.declare(timeout_s=20)) as source:
        found = (await look(source))["large.bin"]
        got = bytearray()
        while len(got) < found.size:
            try:
                async with aclosing(source.read("large.bin", found.version, len(got))) as chunks:
                    async for chunk in chunks:
                        got += chunk
                        if not cuts:
                            cuts = 1
                            source._grant.end()  # type: ignore[attr-defined]  # all its connections break
            except TransientError:
                cuts += 1
        assert bytes(got) == LARGE
        assert cuts == 2 or remote.kind == "s3"  # whose library goes on by itself, or not


async def test_who_stops_reading_can_read_again(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("large.bin", LARGE)
    async with opens(shelf.declare()) as source:
        found = (await look(source))["large.bin"]
        async with aclosing(source.read("large.bin", found.version)) as chunks:
            first = await anext(chunks)
        assert LARGE.startswith(first)
        assert (await look(source))["large.bin"] == found
        assert await whole(source, found, len(LARGE) - 10) == LARGE[-10:]


async def test_two_read_at_once(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("a.bin", b"a" * 3_000_000)
    await shelf.put("b.bin", b"b" * 3_000_000)
    async with opens(shelf.declare()) as source:
        found = await look(source)
        async with aclosing(source.read("a.bin", found["a.bin"].version)) as chunks:
            first = await anext(chunks)
            assert await whole(source, found["b.bin"]) == b"b" * 3_000_000
            rest = b"".join([chunk async for chunk in chunks])
        assert first + rest == b"a" * 3_000_000


async def test_a_file_that_changes(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("a.csv", b"one")
    async with opens(shelf.declare(after="delete")) as source:
        found = (await look(source))["a.csv"]
        await shelf.put("a.csv", b"three", at=1_700_000_777)
        with pytest.raises(DataError, match="has changed meanwhile; the next scan takes the new version"):
            await whole(source, found)
        with pytest.raises(DataError, match="has changed meanwhile"):
            await whole(source, found, 1)
        assert not await source.done("a.csv", found.version)
        changed = (await look(source))["a.csv"]
        assert changed.version != found.version
        assert await whole(source, changed) == b"three"
        assert await source.done("a.csv", changed.version)


async def test_a_file_that_grows_while_it_is_read(shelf: Shelf, opens: Opens) -> None:
    if shelf.kind == "s3":
        pytest.skip("objects change as a whole")
    await shelf.put("a.bin", LARGE)
    async with opens(shelf.declare()) as source:
        found = (await look(source))["a.bin"]
        with pytest.raises(DataError, match="has changed meanwhile"):  # noqa: PT012
            async for _ in source.read("a.bin", found.version):
                with (shelf.folder / "a.bin").open("ab") as file:
                    file.write(b"more")


async def test_a_file_that_is_still_written(shelf: Shelf, opens: Opens) -> None:
    now = int(time.time())
    await shelf.put("new.csv", at=now)
    async with opens(shelf.declare(settle_s=3600)) as source:
        assert await look(source) == {}
        assert source.scan.unsettled == 1
    async with opens(shelf.declare(settle_s=0)) as source:
        assert set(await look(source)) == {"new.csv"}


async def test_large_files_are_left_out(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("large.csv", b"x" * 3000)
    async with opens(shelf.declare()) as source:
        found = (await look(source))["large.csv"]
    async with opens(shelf.declare(max_bytes=2000)) as source:
        assert await look(source) == {}
        assert [(each.name, each.reason) for each in source.scan.left_out] == [
            ("large.csv", "has 3000 bytes; max_bytes is 2000")
        ]
        with pytest.raises(DataError, match=r"large\.csv has more bytes than max_bytes, 2000"):
            await whole(source, found)


async def test_no_more_entries_than_allowed(shelf: Shelf, opens: Opens) -> None:
    for number in range(7):
        await shelf.put(f"{number}.csv")
    async with opens(shelf.declare(max_entries=5)) as source:
        assert len(await look(source)) == 5
        assert not source.scan.is_whole
        assert source.scan.left_out[0].reason == "more than 5 entries: move some away, or raise max_entries"
    async with opens(shelf.declare(max_entries=7)) as source:
        assert len(await look(source)) == 7
        assert source.scan.is_whole


async def test_taken_files_are_kept(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("a.csv")
    async with opens(shelf.declare()) as source:
        found = (await look(source))["a.csv"]
        assert await source.done("a.csv", found.version)
    assert await shelf.paths() == {"a.csv"}


async def test_taken_files_are_moved(shelf: Shelf, opens: Opens) -> None:
    """The same name with another content does not take the place of the first; doing it twice does no harm."""
    declared = shelf.declare(after="move", move_to="old/taken", recursive=True)
    async with opens(declared) as source:
        for content in (b"first", b"other"):
            await shelf.put("sub/a.csv", content, at=1_700_000_000 + len(await shelf.paths()))
            found = (await look(source))["sub/a.csv"]
            assert await source.done("sub/a.csv", found.version)
            assert await source.done("sub/a.csv", found.version)
            assert await look(source) == {}
    moved = await shelf.paths()
    assert len(moved) == 2
    assert all(path.startswith("old/taken/sub/a.") and path.endswith(".csv") for path in moved)
    assert {await shelf.get(path) for path in moved} == {b"first", b"other"}


async def test_what_is_not_there(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("there.csv")
    async with opens(shelf.declare(after="delete")) as source:
        with pytest.raises(UrlNotFound, match=r"gone\.csv does not exist"):
            await whole(source, SourceFile("gone.csv", 1, source.scan.now, "1-1"))
        assert await source.done("gone.csv", "1-1")


STRANGE = {
    "../a.csv": "is not a file name",
    "/etc/passwd": "is not a file name",
    "sub/../../a.csv": "is not a file name",
    "a\\b.csv": "is not a file name",
    "a\r\nDELE b.csv": "has invisible characters in its name",
    "a\u202evsc.csv": "has invisible characters in its name",
    "x" * 300: "has a name of more than 255 bytes",
    "a/" * 600: "is too long",
    "a/" * 25 + "b": "is too long",
    "c.txt": "is not a file of source shelf",
    "taken/a.csv": "is not a file of source shelf",
    ".a.csv": "is not a file of source shelf",
}


async def test_paths_of_strangers(shelf: Shelf, opens: Opens) -> None:
    await shelf.put("c.txt")
    async with opens(shelf.declare(patterns="*.csv", recursive=True, after="move")) as source:
        for path, why in STRANGE.items():
            for work in (whole(source, SourceFile(path, 1, source.scan.now, "1-1")), source.done(path, "1-1")):
                with pytest.raises(DataError, match=why):
                    await work


async def test_nobody_is_there(remote: Shelf, opens: Opens, unused_tcp_port: int) -> None:
    gone: dict[str, Any] = {"url": remote.url.rpartition(":")[0] + f":{unused_tcp_port}"}
    if remote.kind == "s3":
        gone = {"endpoint": f"http://127.0.0.1:{unused_tcp_port}"}
    async with opens(remote.declare(timeout_s=5, **gone)) as source:
        with pytest.raises(TransientError):
            await look(source)


async def test_wrong_secrets(remote: Shelf, opens: Opens) -> None:
    secrets = {"access_key": "ACCESS", "secret_key": "WRONG"} if remote.kind == "s3" else {"password": "WRONG"}
    async with opens(remote.declare(secrets=secrets)) as source:
        with pytest.raises(ConfigError, match=r"rejects|denies") as told:
            await look(source)
        assert "wrong" not in str(told.value)


async def test_secrets_that_are_not_set(remote: Shelf, settings: Settings) -> None:
    async with open_egress(settings) as egress:
        with pytest.raises(ConfigError, match=r"source shelf: the variable [A-Z_]+ with its "):
            async with open_source(remote.declare(), egress, settings, {}):
                pass


async def test_a_host_that_the_guard_refuses(remote: Shelf, settings: Settings) -> None:
    """So all that it does goes through the guard."""
    denying = settings.model_copy(update={"egress_deny_hosts": "127.0.0.1"})
    async with open_egress(denying) as egress, open_source(remote.declare(), egress, denying, ENVIRON) as source:
        with pytest.raises(Refused, match=r"127\.0\.0\.1 is in FOREBAY_EGRESS_DENY_HOSTS"):
            await look(source)


async def test_no_way_out(settings: Settings) -> None:
    declared = SourceSpec.model_validate({"name": "a", "url": "ftp://files.example/", "owner": "ada"})
    with pytest.raises(ConfigError, match="source a: needs the egress proxy"):
        async with open_source(declared, None, settings):
            pass
