"""The object store, in a folder or in S3. Its errors are translated to those that steps raise."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import re
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit

from forebay.blocking import call, iterate
from forebay.disk import resource_error
from forebay.errors import (
    ConfigError,
    ContentMissing,
    InvalidField,
    ResourceError,
    TransientError,
    one_line,
)
from forebay.storage import names
from forebay.storage.partials import delete_old_partials
from forebay.storage.spool import delete_old_spools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
    from types import ModuleType

    from pydantic import SecretStr

    from forebay.settings import Settings

MISSING = "blobs need a package that is not installed: pip install 'forebay[storage]'"
CHUNK = 256 << 10  # bytes per read
PART = 8 << 20  # bytes per part of an upload; several parts are sent concurrently

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An existing object."""

    key: str
    size: int


class Content(Protocol):
    """Content to store: a spool, or an adopted file."""

    @property
    def content(self) -> bytes | Path: ...
    @property
    def sha256(self) -> bytes: ...
    @property
    def size(self) -> int: ...
    async def into_file(self) -> Path: ...


class Store:
    """Objects over obstore. Objects never change: putting an existing key writes the same content again."""

    def __init__(self, place: str, make: Callable[[], Any], spool: Path, *, keeps_types: bool) -> None:
        self.place = place
        self.spool = spool  # the folder of spools
        self._make = make
        self._keeps_types = keeps_types

    @cached_property
    def _inner(self) -> Any:
        """Created on first use: the folder need not exist before."""
        return self._make()

    async def put(self, key: str, content: Content, media_type: str) -> None:
        """Returns when the object is complete and durable."""
        async with self._translating_errors(key):
            stopped = Event()
            try:
                await call(
                    _obstore().put,
                    self._inner,
                    key,
                    content.content if content.size <= PART else _parts(content.content, stopped),
                    attributes=_attributes(media_type) if self._keeps_types else None,
                    chunk_size=PART,
                    max_concurrency=4,
                )
            finally:
                stopped.set()

    async def find(self, key: str) -> ObjectInfo | None:
        try:
            async with self._translating_errors(key):
                meta = await call(_obstore().head, self._inner, key)
        except ContentMissing:
            return None
        return ObjectInfo(key, meta["size"])

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Stream the bytes from `start` to before `end`, or to the last.

        Raises: ContentMissing before the first byte.
        """
        async with self._translating_errors(key):
            chosen: Any = (
                {"range": (start, end)} if end is not None else {"range": {"offset": start}} if start else None
            )
            found = await call(_obstore().get, self._inner, key, options=chosen)
        return self._stream(key, found.stream(min_chunk_size=CHUNK))

    async def delete(self, key: str) -> None:
        """Delete the object, if it exists."""
        try:
            async with self._translating_errors(key):
                await call(_obstore().delete, self._inner, key)
        except ContentMissing:
            pass

    async def objects(self) -> AsyncGenerator[list[ObjectInfo]]:
        """All objects, in batches."""
        async with self._translating_errors("all objects"):
            async for page in iterate(_obstore().list(self._inner, chunk_size=1000)):
                yield [ObjectInfo(meta["path"], meta["size"]) for meta in page]

    async def sign(self, key: str, seconds: float) -> str | None:
        """A presigned URL of the object; None when the store has none."""
        async with self._translating_errors(key):
            link: str = await call(_obstore().sign, self._inner, "GET", key, timedelta(seconds=seconds))
        return link

    def path(self, key: str) -> Path | None:
        """The object as a local file; None for a remote store."""
        return None

    async def tidy(self, older_than: timedelta) -> int:
        """Delete the spools of killed processes, and abandoned partial files.

        Returns how many.
        """
        return await delete_old_spools(self.spool, older_than) + await delete_old_partials(self.spool, older_than)

    def free_bytes(self) -> int | None:
        """The free space; None when unknown."""
        return None

    async def _stream(self, key: str, chunks: Iterable[Any]) -> AsyncIterator[bytes]:
        async with self._translating_errors(key):
            async for chunk in iterate(chunks):
                yield bytes(chunk)

    @asynccontextmanager
    async def _translating_errors(self, key: str) -> AsyncGenerator[None]:
        """Name the store and the failure, without URLs, which may contain credentials."""
        from obstore import exceptions  # noqa: PLC0415 - an extra

        try:
            yield
        except FileNotFoundError as error:
            raise ContentMissing(f"{key} is not in {self.place}") from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError, PermissionError) as error:
            raise ConfigError(
                f"{self.place} denies access: check its permissions and the FOREBAY_STORAGE_… settings"
            ) from error
        except OSError as error:
            if (full := resource_error(error, self.place)) is not None:
                raise full from error
            raise TransientError(f"{self.place} cannot be used: {error.strerror}") from error
        except exceptions.BaseError as error:
            raise _storage_error(self.place, error) from error


def _parts(content: bytes | Path, stopped: Event) -> Iterator[bytes]:
    """Content in parts, until `stopped`: the upload of a cancelled caller ends with the part it is at."""
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        while part := file.read(PART):
            if stopped.is_set():
                raise asyncio.CancelledError
            yield part


def _storage_error(place: str, error: Exception) -> Exception:
    text = str(error)
    if "No space left" in text or "StorageFull" in text:
        return ResourceError(f"cannot write to {place}: {os.strerror(errno.ENOSPC)}")
    if "NoSuchBucket" in text:
        return ConfigError(f"{place}: the bucket does not exist; create it, or fix FOREBAY_STORAGE_URL")
    if "MissingCredentials" in text or "169.254.169.254" in text:
        return ConfigError(f"{place}: no credentials; set FOREBAY_STORAGE_ACCESS_KEY and FOREBAY_STORAGE_SECRET_KEY")
    return TransientError(f"{place} failed: {one_line(error)[:300]}")


def _attributes(media_type: str) -> dict[str, str]:
    """Headers for presigned URLs: types that could run scripts are downloaded."""
    kept = {"Content-Type": names.served_type(media_type)}
    return kept if names.is_shown(media_type) else {**kept, "Content-Disposition": "attachment"}


def _obstore() -> ModuleType:
    """Raises: ConfigError with the command that installs the extra."""
    try:
        import obstore  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return obstore


# Location.


def open_store(settings: Settings) -> Store:
    """The store of the settings; does not connect yet.

    Raises: InvalidField that names the setting; ConfigError when the package for it is not installed.
    """
    _obstore()
    url = settings.storage_url.strip()
    if url.startswith("s3://"):
        return _s3(url, settings)
    from forebay.storage.local import LocalStore  # noqa: PLC0415 - it imports this module

    folder = folder_of(settings)
    if not url:
        _close_to_others(folder)
    return LocalStore(folder)


def _close_to_others(folder: Path) -> None:
    """Earlier releases created the folder readable for other accounts."""
    with suppress(OSError):  # it does not exist yet, or belongs to another account
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def folder_of(settings: Settings) -> Path:
    """The folder of blobs.

    Raises: InvalidField when the setting names something else.
    """
    url = settings.storage_url.strip()
    if not url:
        return (settings.data_dir / "blobs").absolute()
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.netloc in {"", "localhost"} and parts.path:
        return Path(parts.path)
    if parts.scheme:
        raise InvalidField("FOREBAY_STORAGE_URL", "must be s3://bucket/prefix or a folder")
    return Path(url).absolute()


def _s3(url: str, settings: Settings) -> Store:
    from obstore.store import S3Store  # noqa: PLC0415 - an extra

    parts = urlsplit(url)
    if not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise InvalidField("FOREBAY_STORAGE_URL", "must be s3://bucket or s3://bucket/prefix, without anything else")
    prefix = parts.path.strip("/")
    wanted = {
        "endpoint": settings.storage_endpoint or None,
        "region": settings.storage_region or None,
        "access_key_id": _secret(settings.storage_access_key),
        "secret_access_key": _secret(settings.storage_secret_key),
    }
    make = partial(
        S3Store,
        parts.netloc,
        prefix=prefix or None,
        config=cast("Any", {name: value for name, value in wanted.items() if value}),
        client_options={
            "allow_http": settings.storage_endpoint.startswith("http://"),
            "connect_timeout": "5s",
            "read_timeout": "60s",
            "timeout": "12h",  # a read takes as long as its reader
        },
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
    )
    return Store(f"s3://{parts.netloc}/{prefix}", make, settings.data_dir.absolute() / "spool", keeps_types=True)


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()
