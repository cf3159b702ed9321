from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

import obstore
import pytest
import trustme

from forebay.services.egress import Egress, open_egress
from forebay.services.sources import Source, SourceSpec, open_source
from forebay.settings import Settings
from tests._servers import run_apart
from tests.services.sources._shelves import ENVIRON, KINDS, Bucket, Ftpd, Shelf, bucket, ftpd, on_ftp, on_sftp, sshd
from tests.storage._s3 import S3, s3_server

Opens = Callable[[SourceSpec], AbstractAsyncContextManager[Source]]
FtpServers = Callable[[str, Path], Ftpd]


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    folder = tmp_path_factory.mktemp("s3")
    with s3_server(folder / "data") as server:
        run_apart(_make_bucket(bucket(server, folder)))
        yield server


async def _make_bucket(first: Bucket) -> None:
    """It comes with its first object."""
    assert first.store is not None
    await obstore.put_async(first.store, "first", b"")


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "drop"
    made.mkdir()
    return made


@pytest.fixture
def settings(authority: trustme.CA, tmp_path: Path) -> Settings:
    """No network is open; only what is declared is reached."""
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    return Settings(egress_confine=False, egress_ca_file=bundle)


@pytest.fixture
async def egress(settings: Settings) -> AsyncIterator[Egress]:
    async with open_egress(settings) as egress:
        yield egress


@pytest.fixture
def opens(egress: Egress, settings: Settings, folder: Path) -> Opens:
    @asynccontextmanager
    async def opened(declared: SourceSpec, environ: dict[str, str] = ENVIRON) -> AsyncIterator[Source]:
        async with open_source(declared, egress, settings, environ, roots=[folder]) as source:
            yield source

    return opened


@pytest.fixture(scope="session")
def ftp_servers(tmp_path_factory: pytest.TempPathFactory, authority: trustme.CA) -> Iterator[FtpServers]:
    """Serves a folder by the server of a kind, which is started once."""
    links = tmp_path_factory.mktemp("ftp")
    started: dict[str, Ftpd] = {}
    with ExitStack() as stack:

        def serve(kind: str, folder: Path) -> Ftpd:
            link = links / kind
            link.unlink(missing_ok=True)
            link.symlink_to(folder)
            if kind not in started:
                started[kind] = stack.enter_context(ftpd(kind, link, authority))
            return started[kind]

        yield serve


@pytest.fixture(params=KINDS)
async def shelf(request: pytest.FixtureRequest, folder: Path, ftp_servers: FtpServers) -> AsyncIterator[Shelf]:
    """An empty place of each kind."""
    async with _shelved(request, folder, ftp_servers) as made:
        yield made


@pytest.fixture(params=KINDS[1:])
async def remote(request: pytest.FixtureRequest, folder: Path, ftp_servers: FtpServers) -> AsyncIterator[Shelf]:
    """The same, of those that are reached by the network."""
    async with _shelved(request, folder, ftp_servers) as made:
        yield made


@asynccontextmanager
async def _shelved(request: pytest.FixtureRequest, folder: Path, ftp_servers: FtpServers) -> AsyncIterator[Shelf]:
    kind: str = request.param
    async with AsyncExitStack() as stack:
        if kind == "folder":
            yield Shelf(kind, folder.as_uri(), folder, {"settle_s": 0})  # the times of entries are always of now
        elif kind == "s3":
            yield bucket(request.getfixturevalue("s3"), folder)
        elif kind == "sftp":
            yield on_sftp(await stack.enter_async_context(sshd(folder)), folder)
        else:
            yield on_ftp(kind, ftp_servers(kind, folder).port, folder)
