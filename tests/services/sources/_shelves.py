"""Every kind of place that files are taken from, on real servers, and a hand that puts files there."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh
import obstore
import trustme
from obstore.store import S3Store

from forebay.services.sources import SourceSpec
from tests.storage._s3 import ACCESS_KEY, S3, SECRET_KEY

PASSWORD = "hunter2"
ENVIRON = {"THE_PASSWORD": PASSWORD, "WRONG": "wrong", "ACCESS": ACCESS_KEY, "SECRET": SECRET_KEY}
KINDS = ("folder", "s3", "ftp", "ftp-plain", "ftps", "ftps-implicit", "sftp")
OLD = 1_700_000_000


@dataclass
class Shelf:
    """A place, and how it is declared."""

    kind: str
    url: str
    folder: Path
    more: dict[str, Any] = field(default_factory=dict[str, Any])

    def declare(self, **changes: Any) -> SourceSpec:
        return SourceSpec.model_validate({"name": "shelf", "url": self.url, "owner": "ada"} | self.more | changes)

    async def put(self, path: str, content: bytes = b"a,b\n", at: int = OLD) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (at, at))

    async def get(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    async def paths(self) -> set[str]:
        return {str(each.relative_to(self.folder)) for each in self.folder.rglob("*") if each.is_file()}


@dataclass
class Bucket(Shelf):
    """The same in S3."""

    store: S3Store | None = None

    async def put(self, path: str, content: bytes = b"a,b\n", at: int = OLD) -> None:
        assert self.store is not None
        await obstore.put_async(self.store, path, content)

    async def get(self, path: str) -> bytes:
        assert self.store is not None
        return bytes(await (await obstore.get_async(self.store, path)).bytes_async())

    async def paths(self) -> set[str]:
        assert self.store is not None
        return {meta["path"] for page in obstore.list(self.store) for meta in page}


def bucket(server: S3, folder: Path) -> Bucket:
    prefix = f"in/{uuid.uuid4()}"
    more = {"endpoint": server.endpoint, "secrets": {"access_key": "ACCESS", "secret_key": "SECRET"}, "settle_s": 0}
    store = S3Store(
        "tests",
        prefix=prefix,
        config={"endpoint": server.endpoint, "access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY},
        region="us-east-1",
        client_options={"allow_http": True},
    )
    return Bucket("s3", f"s3://tests/{prefix}", folder, more, store)


@dataclass
class Ftpd:
    """An FTP server, which may be killed and comes back on the same port."""

    argv: list[str]
    process: subprocess.Popen[bytes] | None = None
    port: int = 0

    def start(self) -> None:
        argv = [*self.argv[:2], str(self.port), *self.argv[2:]]
        script = str(Path(__file__).with_name("_ftpd.py"))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", script, *argv], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def ftpd(kind: str, folder: Path, authority: trustme.CA) -> Iterator[Ftpd]:
    certificate = "-"
    if kind.startswith("ftps"):
        leaf = authority.issue_cert("127.0.0.1")
        certificate = f"{folder}.pem"
        leaf.private_key_and_cert_chain_pem.write_to_path(certificate)
    options = {"ftp-plain": ["plain"], "ftps-implicit": ["implicit"]}.get(kind, [])
    server = Ftpd([str(folder), PASSWORD, certificate, *options])
    server.start()
    try:
        yield server
    finally:
        server.kill()


def on_ftp(kind: str, port: int, folder: Path) -> Shelf:
    scheme = "ftps" if kind.startswith("ftps") else "ftp"
    more: dict[str, Any] = {"secrets": {"password": "THE_PASSWORD"}}
    if kind == "ftps-implicit":
        more["tls"] = "implicit"
    return Shelf(kind, f"{scheme}://ann@127.0.0.1:{port}", folder, more)


class Doorman(asyncssh.SSHServer):
    """Lets ann in, by password or with her key."""

    def __init__(self, key: asyncssh.SSHKey) -> None:
        self._key = key

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("ann", PASSWORD)

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == "ann" and key == self._key.convert_to_public()


@dataclass
class Sshd:
    """An SSH server with SFTP only."""

    port: int
    host_key: asyncssh.SSHKey
    user_key: asyncssh.SSHKey


@contextlib.asynccontextmanager
async def sshd(folder: Path, files: type[asyncssh.SFTPServer] = asyncssh.SFTPServer) -> AsyncIterator[Sshd]:
    host_key, user_key = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=lambda: Doorman(user_key),
        server_host_keys=[host_key],
        sftp_factory=lambda chan: files(chan, chroot=os.fsencode(folder)),
        allow_scp=False,
    )
    try:
        yield Sshd(server.get_port(), host_key, user_key)
    finally:
        server.close()
        await server.wait_closed()


def on_sftp(server: Sshd, folder: Path) -> Shelf:
    more = {"secrets": {"password": "THE_PASSWORD"}, "host_keys": server.host_key.get_fingerprint()}
    return Shelf("sftp", f"sftp://ann@127.0.0.1:{server.port}", folder, more)
