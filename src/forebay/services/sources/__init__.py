"""Sources of files: a folder, an S3 prefix, an FTP or SFTP server.

    for declared in load_sources(folder, roots):
        async with open_source(declared, egress, settings, roots=roots) as source:
            async for found in source.list():
                async for chunk in source.read(found.path, found.version): ...
                await source.done(found.path, found.version)

Independent of engine and database. The others than folders use the egress proxy and need the extra `sources`.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.egress.origins import Origin
from forebay.services.sources.folder import FolderSource
from forebay.services.sources.source import Scan, SkippedEntry, Source, SourceFile
from forebay.services.sources.source_files import SettingNames, Sources, load_sources, read_sources, root_of
from forebay.services.sources.source_spec import SourceSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from forebay.services.egress import Egress, Grant
    from forebay.settings import Settings

__all__ = [
    "Scan",
    "SettingNames",
    "SkippedEntry",
    "Source",
    "SourceFile",
    "SourceSpec",
    "Sources",
    "load_sources",
    "open_source",
    "read_sources",
]


@asynccontextmanager
async def open_source(
    declared: SourceSpec,
    egress: Egress | None,
    settings: Settings,
    environ: Mapping[str, str] = os.environ,
    *,
    roots: Sequence[Path] = (),
    names: SettingNames | None = None,
) -> AsyncGenerator[Source, None]:
    """Open a source; it does not connect yet. Folders need no egress proxy, but must be under one of the roots.

    Raises: ConfigError when a package, a secret or a file is missing, or the folder is not allowed.
    """
    if declared.url.scheme == "file":
        yield _folder(declared, roots, names or SettingNames())
        return
    if egress is None:
        raise ConfigError(f"source {declared.name}: needs the egress proxy")
    # FTP's control connection is idle during a transfer; each transfer has its own timeout.
    limits = replace(egress.limits, bytes_down=0, bytes_up=0, idle_s=egress.limits.total_s)
    with egress.grant(f"sources.{declared.name}", limits, trusted=[_origin(declared)]) as grant:
        source = _opened(declared, grant, settings, environ)
        try:
            yield source
        finally:
            await source.close()


def _folder(declared: SourceSpec, roots: Sequence[Path], names: SettingNames) -> FolderSource:
    try:
        return FolderSource(declared, *root_of(declared, roots, names), roots_setting=names.roots)
    except ValueError as error:
        raise ConfigError(f"source {declared.name}: {error}") from None


def _origin(declared: SourceSpec) -> Origin:
    """The origin of its connections, which the operator has configured."""
    if declared.url.scheme == "s3":
        return Origin.of(declared.s3_endpoint)
    return Origin(declared.url.scheme, declared.url.host, declared.url.port)


def _opened(declared: SourceSpec, grant: Grant, settings: Settings, environ: Mapping[str, str]) -> Source:
    try:
        if declared.url.scheme == "s3":
            from forebay.services.sources.s3 import open_bucket  # noqa: PLC0415 - an extra

            return open_bucket(declared, grant, settings, environ)
        if declared.url.scheme == "sftp":
            from forebay.services.sources.sftp import SftpSource  # noqa: PLC0415 - an extra

            return SftpSource(declared, grant, environ)
        from forebay.services.egress.pools import own_trust  # noqa: PLC0415 - an extra
        from forebay.services.sources.ftp import FtpSource  # noqa: PLC0415 - an extra

        return FtpSource(declared, grant, own_trust(settings.egress_ca_file), environ)
    except ImportError as error:
        why = f"{declared.url.scheme}:// needs the package {error.name}"
        raise ConfigError(f"{why}: pip install 'forebay[sources]'") from None
