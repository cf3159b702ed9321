"""aioftp's client through the egress proxy, with limits on responses."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import aioftp

from forebay.errors import ConfigError
from forebay.services.egress.tunnels import open_tunnel
from forebay.services.sources.secured import SecuredReader

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator

    from forebay.services.egress.grants import Grant
    from forebay.services.sources.source_spec import SourceSpec

_LINES = 2000  # lines of a response
_LONGEST_LINE = 16 << 10  # bytes of a line of a listing
_CHUNK = 64 << 10
_ITSELF = {"cdir", "pdir"}


@dataclass(frozen=True, slots=True)
class FtpEntry:
    """An entry of a listing, with times and sizes as the server sends them."""

    name: str
    kind: str  # file, dir, or something else
    size: str
    modified: str


class FtpClient(aioftp.Client):
    """All connections go to the declared host, even if the server names another."""

    def __init__(self, grant: Grant, timeout_s: float) -> None:
        super().__init__(socket_timeout=timeout_s, connection_timeout=timeout_s, trust_server_pasv_ipv4_address=False)
        self.has_facts = False  # supports MLSD and MLST, which have exact types and times
        self._grant = grant
        self._lines = 0
        self._data: asyncio.StreamWriter | None = None

    async def begin(self, declared: SourceSpec, trust: ssl.SSLContext, password: str) -> None:
        """Connect, start TLS and log in."""
        place = declared.url
        is_tls = place.scheme == "ftps"
        if is_tls and declared.is_implicit_tls:
            self.ssl = trust
        await self.connect(place.host, place.port)
        if is_tls and not declared.is_implicit_tls:
            await self._upgrade(declared, trust)
        await self.login(place.user or "anonymous", password)
        if is_tls and declared.is_implicit_tls:
            await self.command("PBSZ 0", "2xx")
            await self.command("PROT P", "2xx")
        await self._learn()
        await self.command("TYPE I", "2xx")  # binary mode: otherwise sizes may depend on line ends

    async def entries(self, folder: str) -> AsyncGenerator[FtpEntry, None]:
        """The entries of a folder; other commands are possible only afterwards."""
        command = f"MLSD {folder}" if self.has_facts else f"LIST {folder}"
        async with self.get_stream(command, "1xx") as stream:
            rest = b""
            while chunk := await stream.read(_CHUNK):  # read many lines at a time, which is ten times faster
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > _LONGEST_LINE:
                    raise ValueError(f"a line of more than {_LONGEST_LINE} bytes")
                for entry in filter(None, map(self._entry, lines)):
                    yield entry
            if last := self._entry(rest):
                yield last

    async def look(self, path: str) -> FtpEntry:
        """The current state of a file."""
        if self.has_facts:
            _, info = await self.command(f"MLST {path}", "250")
            entry = self._facts(info[1].strip().encode("utf-8", "surrogateescape"))
            return FtpEntry(path, "", "", "") if entry is None else entry
        _, size = await self.command(f"SIZE {path}", "213")  # folders have no size
        _, modified = await self.command(f"MDTM {path}", "213")
        return FtpEntry(path, "file", size[0].strip(), modified[0].strip())

    def close(self) -> None:
        """Also closes the data connection of a transfer that the server refused."""
        if self._data is not None:
            self._data.close()
        super().close()

    async def command(
        self,
        command: str | None = None,
        expected_codes: str | tuple[str, ...] = (),
        wait_codes: str | tuple[str, ...] = (),
        censor_after: int | None = None,
    ) -> Any:
        self._lines = 0
        return await super().command(command, expected_codes, wait_codes, censor_after)

    async def parse_line(self) -> tuple[aioftp.Code, str]:
        self._lines += 1
        if self._lines > _LINES:
            raise ValueError(f"an answer of more than {_LINES} lines")
        return await super().parse_line()

    async def _upgrade(self, declared: SourceSpec, trust: ssl.SSLContext) -> None:
        try:
            await self.upgrade_to_tls(trust)
        except aioftp.StatusCodeError as error:
            raise ConfigError(
                f"{declared.url} does not support TLS ({error.received_codes[-1]}); no credentials were sent"
            ) from None

    async def _learn(self) -> None:
        code, info = await self.command("FEAT", ("2xx", "5xx"))
        features = [line.strip().upper() for line in info] if code.matches("2xx") else []
        self.has_facts = any(re.match(r"MLST\b", feature) for feature in features)
        if "UTF8" in features:
            await self.command("OPTS UTF8 ON", ("2xx", "5xx"))

    def _entry(self, line: bytes) -> FtpEntry | None:
        """Parse a line; None if it is not an entry."""
        line = line.rstrip(b"\r\n")
        if not line:
            return None
        return self._facts(line) if self.has_facts else self._listed(line)

    def _facts(self, line: bytes) -> FtpEntry | None:
        facts, _, name = line.decode("utf-8", "surrogateescape").partition(" ")
        told = {key.lower(): value for key, _, value in (fact.partition("=") for fact in facts.split(";"))}
        kind = told.get("type", "").lower()
        return None if kind in _ITSELF else FtpEntry(name, kind, told.get("size", ""), told.get("modify", ""))

    def _listed(self, line: bytes) -> FtpEntry | None:
        with suppress(ValueError):
            path, told = self.parse_list_line(line)
            kind = "link" if "link_dst" in told else told["type"]
            is_itself = kind == "dir" and str(path) in {".", ".."}
            return None if is_itself else FtpEntry(str(path), kind, "", "")
        return None

    async def _open_connection(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """For control and data connections."""
        sock = await open_tunnel(self._grant, host, port)
        trust = self.ssl if self._stream is None else None
        try:
            async with asyncio.timeout(self.connection_timeout):
                opened = await asyncio.open_connection(sock=sock, ssl=trust, server_hostname=host if trust else None)
        except BaseException:
            sock.close()
            raise
        if self._stream is None:
            return opened
        self._data = opened[1]
        secured: ssl.SSLObject | None = self._stream.writer.get_extra_info("ssl_object")
        return opened if secured is None else await self._secured(opened, secured, host)

    async def _secured(
        self, opened: tuple[asyncio.StreamReader, asyncio.StreamWriter], control: ssl.SSLObject, host: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Servers require the TLS session of the control connection on the data connection."""
        reader = SecuredReader(opened, control.context, host, control.session)
        async with asyncio.timeout(self.connection_timeout):
            await reader.begin()
        return cast("asyncio.StreamReader", reader), opened[1]
