"""Files on an FTP server, with or without TLS; needs aioftp."""

from __future__ import annotations

import re
import ssl
from collections import deque
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import aioftp

from forebay.errors import ConfigError, StepError, TransientError
from forebay.services.egress.errors import UrlNotFound
from forebay.services.sources.ftp_client import FtpClient, FtpEntry
from forebay.services.sources.names import moved_name, shown
from forebay.services.sources.source import CHUNK, EntryLimitReached, Source, SourceFile, changed_meanwhile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from forebay.services.egress.grants import Grant
    from forebay.services.sources.source import Scan
    from forebay.services.sources.source_spec import SourceSpec

_KEPT = 2  # idle connections
_TIME = re.compile(r"\d{14}(?:\.\d{1,9})?")
_PARTS = re.compile(r"^\d{4}|\d\d")
_GONE = {"450", "501", "550", "553"}
_UNKNOWN = {"430", "530", "532"}


class FtpSource(Source):
    """Versions are time and size; each transfer uses a separate connection, which is reused."""

    def __init__(self, declared: SourceSpec, grant: Grant, trust: ssl.SSLContext, environ: Mapping[str, str]) -> None:
        super().__init__(declared)
        self._grant, self._trust = grant, trust
        self._password = declared.secret("password", environ) or "forebay@"
        self._idle: list[FtpClient] = []

    async def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        folders = deque([""])
        async with self._translating_errors(""), self._connection() as client:
            while folders:
                async with aclosing(self._in_folder(scan, client, folders)) as found:
                    async for each in found:
                        yield each

    async def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        async with self._translating_errors(path), self._connection() as client:
            found = await self._look(client, path)
            if found.version != version:
                raise changed_meanwhile(path)
            if offset < found.size:
                async with client.download_stream(self._full(path), offset=offset) as stream:
                    while chunk := await stream.read(CHUNK):
                        offset += len(chunk)
                        self._check_growth(path, offset, found.size)
                        yield chunk
            now = await self._look(client, path)
            self._check_end(path, offset, found.size, changed=now.version != version)

    async def _done(self, path: str, version: str) -> bool:
        with suppress(UrlNotFound):  # done before
            async with self._translating_errors(path), self._connection() as client:
                if (await self._look(client, path)).version != version:
                    return False
                if self.declared.after == "delete":
                    await client.remove_file(self._full(path))
                else:
                    await self._move(client, path, moved_name(f"{self.declared.move_to}/{path}", version))
        return True

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def _in_folder(self, scan: Scan, client: FtpClient, folders: deque[str]) -> AsyncGenerator[SourceFile, None]:
        """The files of the first folder; its subfolders are appended."""
        folder = folders.popleft()
        inexact: list[str] = []
        enough: EntryLimitReached | None = None
        try:
            async with aclosing(client.entries(self._full(folder))) as entries:
                async for entry in entries:
                    path = self._sorted(scan, folder, entry, folders)
                    if path is not None and not client.has_facts:
                        inexact.append(path)
                    elif path is not None and (found := _known(scan, path, entry)):
                        yield found
        except EntryLimitReached as error:
            enough = error
        if inexact:  # the list has no exact times: they are read on another connection, as the list may not be complete
            async with self._connection() as other:
                for path in inexact:
                    with suppress(UrlNotFound):
                        if found := _known(scan, path, await self._asked(other, path)):
                            yield found
        if enough is not None:
            raise enough

    def _sorted(self, scan: Scan, folder: str, entry: FtpEntry, folders: deque[str]) -> str | None:
        """The path of an entry if it is a wanted file."""
        path = scan.add_entry(folder, entry.name)
        if path is None:
            return None
        if entry.kind == "file":
            return path if scan.wants_file(path) else None
        if entry.kind != "dir":
            scan.skip(path, "is neither a file nor a folder")
        elif scan.enters_folder(path):
            folders.append(path)
        return None

    async def _asked(self, client: FtpClient, path: str) -> FtpEntry:
        async with self._translating_errors(path):
            return await client.look(self._full(path))

    async def _look(self, client: FtpClient, path: str) -> SourceFile:
        """The current state of a file."""
        entry = await client.look(self._full(path))
        if entry.kind != "file":
            raise UrlNotFound(f"{self.declared.url}/{path} is not a file")
        return _source_file(path, entry)

    async def _move(self, client: FtpClient, path: str, aim: str) -> None:
        folder = ""
        for part in aim.split("/")[:-1]:
            folder = f"{folder}/{part}" if folder else part
            with suppress(aioftp.StatusCodeError):  # it exists; otherwise the move fails
                await client.command(f"MKD {self._full(folder)}", "2xx")
        await client.rename(self._full(path), self._full(aim))

    def _full(self, path: str) -> str:
        base = self.declared.url.path
        if base.startswith("~"):  # the folder after login
            return "/".join(filter(None, (base[2:], path))) or "."
        return f"{base.rstrip('/')}/{path}" if path else base

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[FtpClient, None]:
        """A connection that is reused after a success."""
        client = await self._connected()
        try:
            yield client
        except BaseException:
            client.close()
            raise
        if len(self._idle) < _KEPT:
            self._idle.append(client)
        else:
            client.close()

    async def _connected(self) -> FtpClient:
        while self._idle:
            client = self._idle.pop()
            try:
                await client.command("NOOP", "2xx")
            except (aioftp.AIOFTPException, OSError, ValueError):
                client.close()  # the server has closed it
            else:
                return client
        client = FtpClient(self._grant, self.declared.timeout_s)
        try:
            await client.begin(self.declared, self._trust, self._password)
        except BaseException:
            client.close()
            raise
        return client

    @asynccontextmanager
    async def _translating_errors(self, path: str) -> AsyncGenerator[None, None]:
        where = f"{self.declared.url}{f'/{path}' if path else ''}"
        try:
            yield
        except aioftp.StatusCodeError as error:
            raise _answered(where, error, is_root=not path) from None
        except TimeoutError:
            raise TransientError(f"{where} did not answer within {self.declared.timeout_s:g} s") from None
        except ssl.SSLCertVerificationError as error:
            why = f"{self.declared.url.host} has an invalid certificate: {error.verify_message}"
            raise ConfigError(f"{why}; FOREBAY_EGRESS_CA_FILE can name additional authorities") from None
        except OSError as error:
            raise TransientError(f"the connection to {where} broke: {error.strerror or type(error).__name__}") from None
        except (aioftp.AIOFTPException, ValueError, IndexError, KeyError) as error:
            raise TransientError(f"{where} sent an invalid FTP response: {shown(str(error))}") from None


def _answered(where: str, error: aioftp.StatusCodeError, *, is_root: bool) -> StepError:
    code = str(error.received_codes[-1])
    if code in _UNKNOWN:
        return ConfigError(f"{where} rejects the user or the password ({code})")
    if code in _GONE and is_root:
        return ConfigError(f"{where} does not exist or cannot be listed ({code})")
    if code in _GONE:
        return UrlNotFound(f"{where} does not exist or cannot be read ({code})")
    return TransientError(f"{where} answered {code} {shown(' '.join(map(str.strip, error.info)))}")


def _known(scan: Scan, path: str, entry: FtpEntry) -> SourceFile | None:
    """Skip a file with invalid attributes; the others continue."""
    try:
        return _source_file(path, entry)
    except ValueError:
        scan.skip(path, "has no proper time or size")
        return None


def _source_file(path: str, entry: FtpEntry) -> SourceFile:
    """Raises: ValueError when the server sends no valid time or size."""
    if not _TIME.fullmatch(entry.modified) or not entry.size.isdecimal():
        raise ValueError(f"{path} has no proper time or size")
    year, month, day, hour, minute, second = (int(part) for part in _PARTS.findall(entry.modified)[:6])
    modified = datetime(year, month, day, hour, minute, second, tzinfo=UTC)  # strptime is ten times slower
    return SourceFile(path, int(entry.size), modified, f"{entry.modified}-{entry.size}")
