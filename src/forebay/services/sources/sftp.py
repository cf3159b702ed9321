"""Files on an SFTP server; needs asyncssh."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import asyncssh
from asyncssh import SFTPAttrs, SFTPClient
from asyncssh.constants import FILEXFER_TYPE_DIRECTORY, FILEXFER_TYPE_REGULAR, FILEXFER_TYPE_SYMLINK

from forebay.errors import ConfigError, DataError, StepError, TransientError
from forebay.services.egress.errors import UrlNotFound
from forebay.services.egress.tunnels import open_tunnel
from forebay.services.sources.names import moved_name, shown
from forebay.services.sources.source import CHUNK, Source, SourceFile, changed_meanwhile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.services.egress.grants import Grant
    from forebay.services.sources.source import Scan
    from forebay.services.sources.source_spec import SourceSpec

asyncssh.set_log_level("WARNING")  # it logs users and hosts of every connection


class _Known(asyncssh.SSHClient):
    """Accepts only host keys with declared fingerprints."""

    def __init__(self, fingerprints: frozenset[str]) -> None:
        self._fingerprints = fingerprints
        self.shown = ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.shown = f"{key.get_fingerprint()} ({key.get_algorithm()})"
        return key.get_fingerprint() in self._fingerprints


class SftpSource(Source):
    """Versions are time and size; one connection for everything."""

    def __init__(self, declared: SourceSpec, grant: Grant, environ: Mapping[str, str]) -> None:
        super().__init__(declared)
        self._grant = grant
        self._password = declared.secret("password", environ)
        self._key = _private_key(declared, environ)
        self._connecting = asyncio.Lock()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._sftp: SFTPClient | None = None

    async def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        folders = deque([""])
        async with self._translating_errors(""):
            sftp = await self._client()
            while folders:
                async with aclosing(self._in_folder(scan, sftp, folders)) as found:
                    async for each in found:
                        yield each

    async def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        async with self._translating_errors(path):
            sftp = await self._client()
            size = (await self._look(sftp, path, version)).size
            async with asyncio.timeout(self.declared.timeout_s):
                file = await sftp.open(self._full(path), "rb")
            try:
                while chunk := await self._within(file.read(CHUNK, offset)):
                    offset += len(chunk)
                    self._check_growth(path, offset, size)
                    yield bytes(chunk)
                now = _source_file(path, await self._within(file.stat()))
                self._check_end(path, offset, size, changed=now.version != version)
            finally:
                with suppress(asyncssh.Error, OSError):
                    await self._within(file.close())

    async def _done(self, path: str, version: str) -> bool:
        with suppress(UrlNotFound):  # done before
            async with self._translating_errors(path):
                sftp = await self._client()
                if _source_file(path, await self._within(sftp.lstat(self._full(path)))).version != version:
                    return False
                if self.declared.after == "delete":
                    await self._within(sftp.remove(self._full(path)))
                else:
                    await self._move(sftp, path, moved_name(f"{self.declared.move_to}/{path}", version))
        return True

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            await self._connection.wait_closed()

    async def _in_folder(self, scan: Scan, sftp: SFTPClient, folders: deque[str]) -> AsyncGenerator[SourceFile, None]:
        """The files of the first folder; its subfolders are appended."""
        folder = folders.popleft()
        listing = cast("AsyncGenerator[asyncssh.SFTPName, None]", sftp.scandir(self._full(folder)))
        async with aclosing(listing) as entries:
            while (entry := await self._within(anext(entries, None))) is not None:
                name = str(entry.filename)
                path = None if name in {".", ".."} else scan.add_entry(folder, name)
                if path is None:
                    continue
                attrs = await self._whole(sftp, path, entry.attrs)
                if attrs.type == FILEXFER_TYPE_DIRECTORY:
                    if scan.enters_folder(path):
                        folders.append(path)
                elif attrs.type != FILEXFER_TYPE_REGULAR:
                    is_link = attrs.type == FILEXFER_TYPE_SYMLINK
                    scan.skip(path, "is a symbolic link" if is_link else "is a device, pipe or socket")
                elif scan.wants_file(path):
                    try:
                        yield _source_file(path, attrs)
                    except DataError:
                        scan.skip(path, "has no proper time or size")

    async def _whole(self, sftp: SFTPClient, path: str, attrs: SFTPAttrs) -> SFTPAttrs:
        """Servers may omit attributes in a listing."""
        known = attrs.type != asyncssh.constants.FILEXFER_TYPE_UNKNOWN
        is_whole = known and (attrs.type != FILEXFER_TYPE_REGULAR or None not in (attrs.size, attrs.mtime))
        return attrs if is_whole else await self._within(sftp.lstat(self._full(path)))

    async def _look(self, sftp: SFTPClient, path: str, version: str) -> SourceFile:
        """The current state of a file at its real path.

        Raises: DataError when the version has changed, or the path contains a link.
        """
        attrs = await self._within(sftp.lstat(self._full(path)))
        root = str(await self._within(sftp.realpath(self._full("")))).rstrip("/")
        real = str(await self._within(sftp.realpath(self._full(path))))
        if attrs.type != FILEXFER_TYPE_REGULAR or not real.startswith(f"{root}/"):
            raise DataError(f"{path} is not a file, or behind a symbolic link: links are not followed")
        found = _source_file(path, attrs)
        if found.version != version:
            raise changed_meanwhile(path)
        return found

    async def _move(self, sftp: SFTPClient, path: str, aim: str) -> None:
        folder = ""
        for part in aim.split("/")[:-1]:
            folder = f"{folder}/{part}" if folder else part
            with suppress(asyncssh.SFTPError):  # it exists; otherwise the move fails
                await self._within(sftp.mkdir(self._full(folder)))
        await self._within(sftp.rename(self._full(path), self._full(aim)))

    def _full(self, path: str) -> str:
        base = self.declared.url.path
        if base.startswith("~"):  # the folder after login
            return "/".join(filter(None, (base[2:], path))) or "."
        return f"{base.rstrip('/')}/{path}" if path else base

    async def _within(self, work: Any) -> Any:
        async with asyncio.timeout(self.declared.timeout_s):
            return await work

    async def _client(self) -> SFTPClient:
        async with self._connecting:
            if self._sftp is None or self._connection is None or self._connection.is_closed():
                await self.close()
                async with asyncio.timeout(self.declared.timeout_s):
                    self._connection = await self._connected()
                    self._sftp = await self._connection.start_sftp_client(path_errors="surrogateescape")
            return self._sftp

    async def _connected(self) -> asyncssh.SSHClientConnection:
        place = self.declared.url
        known = _Known(self.declared.fingerprints)
        sock = await open_tunnel(self._grant, place.host, place.port)
        try:
            return await asyncssh.connect(
                sock=sock,
                config=None,
                client_factory=lambda: known,
                known_hosts=([], [], []),  # None would accept any host
                username=place.user,
                password=self._password,
                client_keys=None if self._key is None else [self._key],
                agent_path=None,
                login_timeout=self.declared.timeout_s,
            )
        except asyncssh.HostKeyNotVerifiable:
            raise ConfigError(f"{place} has the host key {known.shown}, which is not in host_keys") from None
        except BaseException:
            sock.close()
            raise

    @asynccontextmanager
    async def _translating_errors(self, path: str) -> AsyncGenerator[None, None]:
        where = f"{self.declared.url}{f'/{path}' if path else ''}"
        try:
            yield
        except asyncssh.Error as error:
            raise _step_error(where, error, is_root=not path) from None
        except TimeoutError:
            raise TransientError(f"{where} did not answer within {self.declared.timeout_s:g} s") from None
        except OSError as error:
            raise TransientError(f"the connection to {where} broke: {error.strerror or type(error).__name__}") from None


def _step_error(where: str, error: asyncssh.Error, *, is_root: bool) -> StepError:
    match error:
        case asyncssh.SFTPNoSuchFile() | asyncssh.SFTPNoSuchPath() | asyncssh.SFTPPermissionDenied():
            why = "cannot be accessed" if isinstance(error, asyncssh.SFTPPermissionDenied) else "does not exist"
            return ConfigError(f"{where} {why}") if is_root else UrlNotFound(f"{where} {why}")
        case asyncssh.PermissionDenied():
            return ConfigError(f"{where} rejects the user, the password or the key")
        case asyncssh.KeyExchangeFailed():
            return ConfigError(f"{where} supports no secure cipher: {shown(error.reason)}")
        case _:
            return TransientError(f"{where} failed: {shown(error.reason)}")


def _private_key(declared: SourceSpec, environ: Mapping[str, str]) -> asyncssh.SSHKey | None:
    """Raises: ConfigError."""
    text = declared.secret("key", environ)
    file = declared.secret("key_file", environ)
    try:
        if file is not None:
            text = Path(file).read_text("utf-8")
        return None if text is None else asyncssh.import_private_key(text)
    except (OSError, UnicodeError):
        raise ConfigError(f"source {declared.name}: its key file cannot be read") from None
    except asyncssh.KeyImportError:
        raise ConfigError(f"source {declared.name}: its key is not a private key, or has a passphrase") from None


def _source_file(path: str, attrs: SFTPAttrs) -> SourceFile:
    try:
        modified = datetime.fromtimestamp(attrs.mtime, UTC) if attrs.mtime is not None else None
    except (ValueError, OverflowError, OSError):
        modified = None
    if attrs.size is None or attrs.mtime is None or modified is None:
        raise DataError(f"{path} has no proper time or size")
    return SourceFile(path, attrs.size, modified, f"{int(attrs.mtime)}.{attrs.mtime_ns or 0}-{attrs.size}")
