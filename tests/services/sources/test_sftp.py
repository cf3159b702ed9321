"""SFTP: who is who, and servers that are slow or hostile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY, FILEXFER_TYPE_REGULAR, FILEXFER_TYPE_SYMLINK
from asyncssh.sftp import SFTPAttrs, SFTPName

from forebay.errors import ConfigError, DataError, TransientError
from forebay.services.egress import Egress
from forebay.services.sources import open_source
from forebay.settings import Settings
from tests.services.egress._world import serving
from tests.services.sources._shelves import on_sftp, sshd
from tests.services.sources.conftest import Opens
from tests.services.sources.test_sources import look, whole


async def test_another_host(opens: Opens, folder: Path) -> None:
    async with sshd(folder) as server:
        shelf = on_sftp(server, folder)
        other = asyncssh.generate_private_key("ssh-ed25519").get_fingerprint()
        async with opens(shelf.declare(host_keys=other)) as source:
            with pytest.raises(ConfigError, match=r"has the host key SHA256:.* which is not in host_keys") as told:
                await look(source)
        assert server.host_key.get_fingerprint() in str(told.value)


async def test_a_host_by_its_line_of_known_hosts(opens: Opens, folder: Path) -> None:
    async with sshd(folder) as server:
        shelf = on_sftp(server, folder)
        await shelf.put("a.csv")
        line = f"[127.0.0.1]:{server.port} {server.host_key.export_public_key().decode().strip()}"
        async with opens(shelf.declare(host_keys=[line])) as source:
            assert set(await look(source)) == {"a.csv"}


async def test_keys_instead_of_passwords(egress: Egress, settings: Settings, folder: Path, tmp_path: Path) -> None:
    async with sshd(folder) as server:
        shelf = on_sftp(server, folder)
        await shelf.put("a.csv")
        text = server.user_key.export_private_key().decode()
        (tmp_path / "key").write_text(text)
        for name, value in (("key", text), ("key_file", str(tmp_path / "key"))):
            declared = shelf.declare(secrets={name: "THE_KEY"})
            async with open_source(declared, egress, settings, {"THE_KEY": value}) as source:
                assert set(await look(source)) == {"a.csv"}
        other = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
        declared = shelf.declare(secrets={"key": "THE_KEY"})
        async with open_source(declared, egress, settings, {"THE_KEY": other}) as source:
            with pytest.raises(ConfigError, match="rejects the user, the password or the key"):
                await look(source)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("key", "no key at all", "source shelf: its key is not a private key, or has a passphrase"),
        ("key_file", "/nowhere/at/all", "source shelf: its key file cannot be read"),
    ],
)
async def test_keys_that_are_none(egress: Egress, settings: Settings, name: str, value: str, why: str) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    declared = on_sftp_nowhere(key).declare(secrets={name: "THE_KEY"})
    with pytest.raises(ConfigError, match=why):
        async with open_source(declared, egress, settings, {"THE_KEY": value}):
            pass


def on_sftp_nowhere(key: asyncssh.SSHKey) -> Any:
    from tests.services.sources._shelves import Sshd

    return on_sftp(Sshd(1, key, key), Path())


class Hostile(asyncssh.SFTPServer):
    """Lists what no folder has."""

    async def scandir(self, path: bytes) -> AsyncIterator[SFTPName]:
        usual = {"size": 4, "permissions": 0o100644, "atime": 1_700_000_000, "mtime": 1_700_000_000}
        for name in (b".", b"..", b"../../etc/passwd", b"a/b", b"bell\x07.csv", b"\xff\xfe.csv", b"good.csv"):
            kind = FILEXFER_TYPE_DIRECTORY if name in (b".", b"..") else FILEXFER_TYPE_REGULAR
            yield SFTPName(name, attrs=SFTPAttrs(type=kind, **usual))
        yield SFTPName(b"link.csv", attrs=SFTPAttrs(type=FILEXFER_TYPE_SYMLINK, **usual | {"permissions": 0o120777}))
        yield SFTPName(b"pipe.csv", attrs=SFTPAttrs(type=4, **usual | {"permissions": 0o10644}))
        for number in range(100_000):
            yield SFTPName(b"%d.csv" % number, attrs=SFTPAttrs(type=FILEXFER_TYPE_REGULAR, **usual))


async def test_names_that_are_none(opens: Opens, folder: Path) -> None:
    async with sshd(folder, Hostile) as server, opens(on_sftp(server, folder).declare(max_entries=20_000)) as source:
        found = await look(source)
        assert "good.csv" in found
        assert len(found) == 20_000 - 6
        assert not source.scan.is_whole
        told = {each.name: each.reason for each in source.scan.left_out}
    assert told["../../etc/passwd"] == told["a/b"] == "is not a file name"
    assert told[r"bell\x07.csv"] == told[r"\udcff\udcfe.csv"] == "has invisible characters in its name"
    assert told["link.csv"] == "is a symbolic link"
    assert told["pipe.csv"] == "is a device, pipe or socket"


async def test_links_are_not_followed(opens: Opens, folder: Path, tmp_path: Path) -> None:
    async with sshd(tmp_path) as server:
        shelf = on_sftp(server, folder)
        shelf.url += "/drop"
        await shelf.put("sub/a.csv", b"mine")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "a.csv").write_bytes(b"none")
        os.utime(tmp_path / "other" / "a.csv", (1_700_000_000, 1_700_000_000))
        (folder / "link").symlink_to("../other")
        async with opens(shelf.declare(recursive=True)) as source:
            (found,) = (await look(source)).values()
            assert [(each.name, each.reason) for each in source.scan.left_out] == [("link", "is a symbolic link")]
            for path in ("sub/a.csv", "link/a.csv"):
                (folder / "sub").rename(folder / "was")
                (folder / "sub").symlink_to("../other")
                with pytest.raises(DataError, match="is not a file, or behind a symbolic link: links are not followed"):
                    async for _ in source.read(path, found.version):
                        pass
                (folder / "sub").unlink()
                (folder / "was").rename(folder / "sub")
            assert await whole(source, found) == b"mine"


class Slow(asyncssh.SFTPServer):
    """Opens nothing in time."""

    async def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> object:
        await asyncio.Event().wait()
        return None


async def test_a_slow_server(opens: Opens, folder: Path) -> None:
    async with sshd(folder, Slow) as server:
        shelf = on_sftp(server, folder)
        await shelf.put("a.csv")
        async with opens(shelf.declare(timeout_s=2)) as source:
            found = (await look(source))["a.csv"]
            with pytest.raises(TransientError, match=r"a\.csv did not answer within 2 s"):
                await whole(source, found)


async def test_a_server_that_says_nothing(opens: Opens) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(silent) as site:
        key = asyncssh.generate_private_key("ssh-ed25519")
        shelf = on_sftp_nowhere(key)
        async with opens(shelf.declare(url=f"sftp://ann@127.0.0.1:{site.port}/", timeout_s=0.3)) as source:
            with pytest.raises(TransientError, match=r"did not answer within 0\.3 s"):
                await look(source)


async def test_a_folder_that_is_not_there(opens: Opens, folder: Path) -> None:
    async with sshd(folder) as server:
        shelf = on_sftp(server, folder)
        async with opens(shelf.declare(url=f"{shelf.url}/gone")) as source:
            with pytest.raises(ConfigError, match="gone does not exist"):
                await look(source)


async def test_whoever_logs_in_begins_at_home(opens: Opens, folder: Path) -> None:
    async with sshd(folder) as server:
        shelf = on_sftp(server, folder)
        await shelf.put("in/a.csv")
        async with opens(shelf.declare(url=f"{shelf.url}/~/in")) as source:
            assert set(await look(source)) == {"a.csv"}
