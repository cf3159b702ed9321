"""Objects under a prefix of an S3 bucket; needs obstore."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any, cast

import obstore
from obstore import exceptions
from obstore.store import S3Store

from forebay.blocking import call, iterate
from forebay.errors import ConfigError, TransientError, one_line
from forebay.services.egress.errors import Refused, UrlNotFound
from forebay.services.sources.names import moved_name
from forebay.services.sources.source import Source, SourceFile, changed_meanwhile

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from obstore import ObjectMeta

    from forebay.services.egress.grants import Grant
    from forebay.services.sources.source import Scan
    from forebay.services.sources.source_spec import SourceSpec
    from forebay.settings import Settings

_PAGE = 1000  # objects per page of a listing
_CHUNK = 256 << 10
_DENIED = re.compile(r"status code: 40[13]\b")  # for listings, which have no specific error for that
_LAST = "\U0010ffff"  # sorts after all other characters: continues after a folder


class S3Source(Source):
    """Versions are ETags; a read stays with the one that it began with."""

    def __init__(self, declared: SourceSpec, grant: Grant, store: S3Store) -> None:
        super().__init__(declared)
        self._grant, self._store = grant, store

    async def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        """Skip excluded folders, which may have millions of objects."""
        after: str | None = None
        while True:
            leap: str | None = None
            async with self._translating_errors(""):
                async for page in self._pages(after):
                    for meta in page:
                        leap = _closed_folder(scan, meta["path"])
                        if leap is not None:
                            break
                        if _is_met(scan, meta["path"]):
                            yield _source_file(meta["path"], meta)
                    if leap is not None:
                        break
            if leap is None:
                return
            after = f"{leap}/{_LAST}"

    async def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        async with self._translating_errors(path):
            if offset and (await self._head(path, version)).size <= offset:
                return  # S3 rejects empty ranges
            options: Any = {"if_match": f'"{version}"', **({"range": {"offset": offset}} if offset else {})}
            found = await call(obstore.get, self._store, path, options=options)
            if _version(found.meta) != version:
                raise changed_meanwhile(path)
            size = found.meta["size"]
            async for chunk in iterate(found.stream(min_chunk_size=_CHUNK)):
                offset += len(chunk)
                yield bytes(chunk)
        self._check_end(path, offset, size, changed=False)

    async def _done(self, path: str, version: str) -> bool:
        async with self._translating_errors(path):
            try:
                if (await self._head(path, None)).version != version:
                    return False
                if self.declared.after == "move":
                    aim = moved_name(f"{self.declared.move_to}/{path}", version)
                    await call(obstore.copy, self._store, path, aim)
                await call(obstore.delete, self._store, path)
            except FileNotFoundError:
                pass  # done before
        return True

    def _pages(self, after: str | None) -> AsyncIterator[Sequence[ObjectMeta]]:
        return iterate(obstore.list(self._store, offset=after, chunk_size=_PAGE))  # pyright: ignore[reportUnknownMemberType]

    async def _head(self, path: str, version: str | None) -> SourceFile:
        """Raises: DataError when the version has changed."""
        found = _source_file(path, await call(obstore.head, self._store, path))
        if version is not None and found.version != version:
            raise changed_meanwhile(path)
        return found

    @asynccontextmanager
    async def _translating_errors(self, path: str) -> AsyncGenerator[None, None]:
        """Translate errors, with the path; a refusal of the SSRF guard is recovered from the library's error."""
        where = f"{self.declared.url}{f'/{path}' if path else ''}"
        refusals = len(self._grant.refusals)
        try:
            yield
        except exceptions.PreconditionError as error:
            raise changed_meanwhile(path) from error
        except (exceptions.BaseError, OSError) as error:
            if refused := self._grant.refusals[refusals:]:
                raise Refused(refused[-1].code, refused[-1].reason) from error
            raise _step_error(where, error, self._grant.password) from error


def _step_error(where: str, error: Exception, secret: str) -> Exception:
    text = str(error)
    if "NoSuchBucket" in text:
        return ConfigError(f"{where}: the bucket does not exist")
    if isinstance(error, FileNotFoundError):
        return UrlNotFound(f"{where} does not exist")
    if _DENIED.search(text) or isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
        return ConfigError(f"{where} denies access: check its keys and their permissions")
    return TransientError(f"{where} failed: {one_line(error).replace(secret, '...')[:300]}")


def _closed_folder(scan: Scan, path: str) -> str | None:
    """The first excluded folder of a path."""
    folder = ""
    for part in path.split("/")[:-1]:
        parent, folder = folder, f"{folder}/{part}" if folder else part
        if not scan.enters_folder(folder):
            scan.add_entry(parent, part)
            return folder
    return None


def _is_met(scan: Scan, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return scan.add_entry(folder, name) is not None and scan.wants_file(path)


def _source_file(path: str, meta: ObjectMeta) -> SourceFile:
    modified = meta["last_modified"]
    return SourceFile(path, meta["size"], modified if modified.tzinfo else modified.replace(tzinfo=UTC), _version(meta))


def _version(meta: ObjectMeta) -> str:
    etag = meta["e_tag"]
    return etag.strip('"') if etag else f"{meta['last_modified'].isoformat()}-{meta['size']}"


def open_bucket(declared: SourceSpec, grant: Grant, settings: Settings, environ: Mapping[str, str]) -> S3Source:
    """Open a bucket; does not connect yet.

    Raises: ConfigError when a secret or the configured certificates are missing.
    """
    idle_timeout = timedelta(seconds=declared.timeout_s)
    client: dict[str, Any] = {
        "allow_http": declared.s3_endpoint.startswith("http://"),
        "connect_timeout": idle_timeout,
        "proxy_url": grant.url,
        "read_timeout": idle_timeout,
        "timeout": "12h",  # a read takes as long as its reader
    }
    if settings.egress_ca_file is not None:
        client["root_certificate"] = _certificates(settings.egress_ca_file)
    store = S3Store(
        declared.url.host,
        prefix=declared.url.path or None,
        config={"endpoint": declared.s3_endpoint, "region": declared.region, "skip_signature": declared.anonymous},
        client_options=cast("Any", client),
        retry_config={"max_retries": 2, "retry_timeout": idle_timeout},
        credential_provider=None if declared.anonymous else _credentials(declared, environ),
    )
    return S3Source(declared, grant, store)


def _certificates(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"FOREBAY_EGRESS_CA_FILE {file} cannot be read: {error.strerror}") from None


def _credentials(declared: SourceSpec, environ: Mapping[str, str]) -> Any:
    """The declared credentials; others in the environment must not be sent to this server."""
    made = {
        "access_key_id": declared.secret("access_key", environ),
        "secret_access_key": declared.secret("secret_key", environ),
        "token": declared.secret("session_token", environ),
        "expires_at": None,
    }
    return lambda: made
