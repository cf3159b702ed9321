"""FTP servers that are old, slow, wrong or hostile."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme
import uvloop

from forebay.errors import ConfigError, TransientError
from forebay.services.egress import UrlNotFound, open_egress
from forebay.services.sources import SourceFile, SourceSpec, open_source
from forebay.services.sources.secured import SecuredReader
from forebay.settings import Settings
from tests.services.egress._world import Site, serving
from tests.services.sources._script import scripted, sending
from tests.services.sources._shelves import ENVIRON, Shelf, ftpd, on_ftp
from tests.services.sources.conftest import Opens
from tests.services.sources.test_sources import LARGE, look, whole

FILE = b"type=file;size=4;modify=20260102030405; "


def at(site: Site, **more: Any) -> SourceSpec:
    return Shelf("ftp", f"ftp://127.0.0.1:{site.port}/", Path()).declare(**more)


async def test_names_that_are_none(opens: Opens) -> None:
    bad = [b"..", b"../../etc/passwd", b"a/b.csv", b"a\\b.csv", b"bell\x07.csv", b"\xff\xfe.csv", b"x" * 256, b""]
    lines = [b"type=cdir; .", b"type=pdir; ..", FILE + b"good.csv", *(FILE + name for name in bad)]
    lines += [b"type=OS.unix=slink:/etc; link.csv", b"type=file;size=x;modify=1; odd.csv", b"nonsense", b"type=file; y"]
    lines += [b"type=file;size=4;modify=20261399999999; never.csv", FILE + b" space "]
    async with scripted(sending(*lines)) as site, opens(at(site)) as source:
        found = await look(source)
        assert set(found) == {"good.csv", " space "}
        assert found["good.csv"].modified == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        told = {each.name: each.reason for each in source.scan.left_out}
    assert told["../../etc/passwd"] == "is not a file name"
    assert told[r"bell\x07.csv"] == "has invisible characters in its name"
    assert told[r"\udcff\udcfe.csv"] == "has invisible characters in its name"
    assert told["link.csv"] == "is neither a file nor a folder"
    assert told["odd.csv"] == told["never.csv"] == told["y"] == "has no proper time or size"
    assert source.scan.left_out_count == len(bad) + 5


async def test_very_many_entries(opens: Opens) -> None:
    async def listing(writer: asyncio.StreamWriter) -> None:
        for number in range(100_010):
            writer.write(FILE + b"%d.csv\r\n" % number)
            if number % 1000 == 0:
                await writer.drain()

    async with scripted(listing) as site, opens(at(site)) as source:
        assert len([found async for found in source.list()]) == 100_000
        assert not source.scan.is_whole


async def test_files_are_known_before_the_list_is_over(opens: Opens) -> None:
    seen = asyncio.Event()

    async def listing(writer: asyncio.StreamWriter) -> None:
        writer.write(FILE + b"first.csv\r\n")
        await seen.wait()
        writer.write(FILE + b"last.csv\r\n")

    async with scripted(listing) as site, opens(at(site)) as source, aclosing(source.list()) as found:
        assert (await anext(found)).path == "first.csv"
        seen.set()
        assert [each.path async for each in found] == ["last.csv"]


async def test_a_server_that_sends_us_elsewhere(opens: Opens) -> None:
    """Its host is asked all the same, and no other."""
    answers = {"EPSV": "502 Never heard of it", "PASV": "227 Go to (10,0,0,1,{high},{low})"}
    async with scripted(sending(FILE + b"a.csv"), **answers) as site, opens(at(site)) as source:
        assert set(await look(source)) == {"a.csv"}


@pytest.mark.parametrize(
    ("answers", "error", "why"),
    [
        ({"PASS": "530 Who?"}, ConfigError, r"rejects the user or the password \(530\)"),
        ({"greeting": "421 Too many of you"}, TransientError, "answered 421 Too many of you"),
        ({"greeting": "Hello!"}, TransientError, "did not answer within 0.5 s"),
        ({"EPSV": "229 Extended (none)"}, TransientError, "sent an invalid FTP response"),
        ({"EPSV": "550 No"}, ConfigError, r"does not exist or cannot be listed \(550\)"),
        ({"FEAT": "211-" + "x\r\n" * 3000}, TransientError, "an answer of more than 2000 lines"),
        ({"FEAT": "211-" + "x" * 100_000}, TransientError, "sent an invalid FTP response"),
    ],
)
async def test_bad_answers(opens: Opens, answers: dict[str, str], error: type[Exception], why: str) -> None:
    async with scripted(sending(), **answers) as site, opens(at(site, timeout_s=0.5)) as source:
        with pytest.raises(error, match=why):
            await look(source)


async def test_a_server_that_says_nothing(opens: Opens) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(silent) as site, opens(at(site, timeout_s=0.2)) as source:
        with pytest.raises(TransientError, match=r"did not answer within 0\.2 s"):
            await look(source)


async def test_a_line_that_never_ends(opens: Opens) -> None:
    async with scripted(sending(FILE + b"x" * 20_000_000)) as site, opens(at(site)) as source:
        with pytest.raises(TransientError, match="sent an invalid FTP response: a line of more than 16384 bytes"):
            await look(source)


async def test_a_file_that_becomes_a_folder(opens: Opens, folder: Path, authority: trustme.CA) -> None:
    with ftpd("ftp", folder, authority) as server:
        shelf = on_ftp("ftp", server.port, folder)
        await shelf.put("a.csv/b.csv")
        async with opens(shelf.declare()) as source:
            with pytest.raises(UrlNotFound, match=r"a\.csv is not a file"):
                await whole(source, SourceFile("a.csv", 4, source.scan.now, "1-1"))


async def test_a_listing_that_never_ends(opens: Opens) -> None:
    async def listing(writer: asyncio.StreamWriter) -> None:
        writer.write(FILE + b"first.csv\r\n")
        await asyncio.Event().wait()

    async with scripted(listing) as site, opens(at(site, timeout_s=0.2)) as source, aclosing(source.list()) as found:
        assert (await anext(found)).path == "first.csv"
        with pytest.raises(TransientError, match=r"did not answer within 0\.2 s"):
            await anext(found)


async def test_old_lists(opens: Opens) -> None:
    """Without facts, times and sizes are asked for; links are seen by their arrows."""
    lines = [
        b"total 12",
        b"drwxr-xr-x   2 ann ann     4096 Jan 02 2026 .",
        b"drwxr-xr-x   2 ann ann     4096 Jan 02 2026 ..",
        b"-rw-r--r--   1 ann ann        4 Jan 02 2026 a.csv",
        b"lrwxrwxrwx   1 ann ann        4 Jan 02 2026 b.csv -> /etc/passwd",
        b"-rw-r--r--   1 ann ann        4 Jan 02 2026 ..",
    ]
    answers = {"FEAT": "500 What?", "SIZE": "213 4", "MDTM": "213 20260102030405"}
    async with scripted(sending(*lines), **answers) as site, opens(at(site)) as source:
        (found,) = (await look(source)).values()
        assert (found.path, found.size, found.version) == ("a.csv", 4, "20260102030405-4")
        told = {each.name: each.reason for each in source.scan.left_out}
        assert told == {"b.csv": "is neither a file nor a folder", "..": "is not a file name"}


async def test_a_server_that_is_killed(opens: Opens, folder: Path, authority: trustme.CA) -> None:
    with ftpd("ftp", folder, authority) as server:
        shelf = on_ftp("ftp", server.port, folder)
        await shelf.put("large.bin", LARGE)
        async with opens(shelf.declare()) as source:
            found = (await look(source))["large.bin"]
            got = bytearray()
            with pytest.raises(TransientError):  # noqa: PT012
                async for chunk in source.read("large.bin", found.version):
                    if not got:
                        server.kill()
                    got += chunk
            server.start()
            assert 0 < len(got) < len(LARGE)
            assert bytes(got) + await whole(source, found, len(got)) == LARGE


async def test_whoever_logs_in_begins_at_home(opens: Opens, folder: Path, authority: trustme.CA) -> None:
    with ftpd("ftp", folder, authority) as server:
        shelf = Shelf("ftp", f"ftp://127.0.0.1:{server.port}/~/in", folder)  # nobody in particular
        await shelf.put("in/a.csv", b"home")
        for url in (shelf.url, shelf.url.replace("/~/in", "/in")):
            async with opens(shelf.declare(url=url)) as source:
                assert await whole(source, (await look(source))["a.csv"]) == b"home"
        async with opens(shelf.declare(url=shelf.url.replace("/~/in", "/~"), recursive=True)) as source:
            assert set(await look(source)) == {"in/a.csv"}


async def test_a_folder_that_is_not_there(opens: Opens, folder: Path, authority: trustme.CA) -> None:
    with ftpd("ftp", folder, authority) as server:
        shelf = on_ftp("ftp", server.port, folder)
        async with opens(shelf.declare(url=f"{shelf.url}/gone")) as source:
            with pytest.raises(ConfigError, match="does not exist or cannot be listed"):
                await look(source)


@pytest.mark.parametrize("kind", ["ftps", "ftps-implicit"])
async def test_a_certificate_of_nobody(opens: Opens, folder: Path, kind: str) -> None:
    with ftpd(kind, folder, trustme.CA()) as server:
        async with opens(on_ftp(kind, server.port, folder).declare()) as source:
            with pytest.raises(ConfigError, match="; FOREBAY_EGRESS_CA_FILE can name additional authorities"):
                await look(source)


async def test_a_password_goes_over_tls_only(opens: Opens) -> None:
    asked: list[str] = []

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 Hello\r\n")
        while line := await reader.readline():
            asked.append(line.decode().strip())
            writer.write(b"502 No such thing\r\n")

    async with serving(plain) as site:
        shelf = Shelf("ftps", f"ftps://ann@127.0.0.1:{site.port}/", Path(), {"secrets": {"password": "THE_PASSWORD"}})
        async with opens(shelf.declare()) as source:
            with pytest.raises(ConfigError, match=r"does not support TLS \(502\); no credentials were sent"):
                await look(source)
    assert asked == ["AUTH TLS"]


@pytest.mark.parametrize("kind", ["ftp", "ftps", "ftps-implicit"])
def test_on_the_loop_of_workers(kind: str, folder: Path, authority: trustme.CA, settings: Settings) -> None:
    """Whose own TLS would lose the end of each file."""

    async def read() -> bytes:
        async with open_egress(settings) as egress:
            with ftpd(kind, folder, authority) as server:
                shelf = on_ftp(kind, server.port, folder)
                await shelf.put("a.bin", LARGE)
                async with open_source(shelf.declare(), egress, settings, ENVIRON) as source:
                    return await whole(source, (await look(source))["a.bin"])

    assert uvloop.run(read()) == LARGE


@pytest.mark.parametrize("kind", ["ftps", "ftps-implicit"])
async def test_both_connections_have_one_session(
    kind: str, opens: Opens, folder: Path, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many servers refuse the second one else."""
    made: list[SecuredReader] = []
    begin = SecuredReader.begin

    async def beginning(reader: SecuredReader) -> None:
        made.append(reader)
        await begin(reader)

    monkeypatch.setattr(SecuredReader, "begin", beginning)
    with ftpd(kind, folder, authority) as server:
        shelf = on_ftp(kind, server.port, folder)
        await shelf.put("a.csv", b"secret")
        async with opens(shelf.declare()) as source:
            assert await whole(source, (await look(source))["a.csv"]) == b"secret"
    assert [reader._tls.session_reused for reader in made] == [True, True]
