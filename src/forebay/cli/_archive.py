"""The file of a backup: a tar archive of the dump and all stored contents, or the dump alone."""

from __future__ import annotations

import asyncio
import json
import shutil
import tarfile
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from forebay.db.pool import connected
from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from forebay.settings import Settings
    from forebay.storage.archive import Copied

_DUMP = "database.dump"
_KEY = "signing.key"
_MANIFEST = "forebay-backup.json"  # the last member: an archive without it is not complete
_FORMAT = 1


async def write(target: IO[bytes], dump: IO[bytes], dsn: str, settings: Settings) -> Copied:
    """Write the archive of a dump and of all contents of the store."""
    from forebay.storage import open_store  # noqa: PLC0415 - an extra
    from forebay.storage.archive import add_blobs  # noqa: PLC0415
    from forebay.storage.signing import key_file  # noqa: PLC0415

    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        await asyncio.to_thread(_add, archive, _DUMP, dump)
        if (key := key_file(settings)).is_file():
            _add(archive, _KEY, BytesIO(key.read_bytes()))
        async with connected(dsn, "forebay backup") as conn:
            copied = await add_blobs(archive, conn, open_store(settings))
        about = {
            "format": _FORMAT,
            "forebay": metadata.version("forebay"),
            "created_at": datetime.now(UTC).isoformat(),
            "blobs": copied.blobs,
            "bytes": copied.bytes,
            "missing": copied.missing,
        }
        _add(archive, _MANIFEST, BytesIO(json.dumps(about).encode()))
    return copied


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = content.seek(0, 2), 0o600
    content.seek(0)
    archive.addfile(member, content)


@contextmanager
def opened(file: Path, settings: Settings) -> Generator[tuple[Path, list[tarfile.TarInfo]]]:
    """The dump of a backup as a file, and the other members of its archive; none for a dump alone.

    Raises: ForebayError for an archive that is incomplete or of a newer release.
    """
    if not file.is_file() or not tarfile.is_tarfile(file):
        yield file, []
        return
    folder = settings.data_dir if settings.data_dir.is_dir() else None  # the temporary folder may be small
    with _reading(file) as archive, tempfile.NamedTemporaryFile(dir=folder, prefix="restore-") as dump:
        try:
            members = archive.getmembers()
            about = _manifest(file, archive, members)
            content = archive.extractfile(_DUMP)
        except (tarfile.TarError, KeyError, ValueError, EOFError) as error:
            raise _incomplete(file) from error
        if about["format"] > _FORMAT:
            raise ForebayError(f"{file} was written by forebay {about['forebay']}: upgrade forebay to restore it")
        assert content is not None  # noqa: S101 - it is a file
        shutil.copyfileobj(content, dump)
        dump.flush()
        yield Path(dump.name), members


def _manifest(file: Path, archive: tarfile.TarFile, members: Sequence[tarfile.TarInfo]) -> dict[str, Any]:
    content = archive.extractfile(members[-1]) if members and members[-1].name == _MANIFEST else None
    if content is None:
        raise _incomplete(file)
    found: dict[str, Any] = json.load(content)
    return found


def _incomplete(file: Path) -> ForebayError:
    return ForebayError(f"{file} is not a complete backup: it was cut off, or is damaged")


async def take_files(file: Path, members: Sequence[tarfile.TarInfo], settings: Settings) -> Copied:
    """Put the contents of an archive into the store."""
    from forebay.storage import open_store  # noqa: PLC0415 - an extra
    from forebay.storage.archive import take_blobs  # noqa: PLC0415
    from forebay.storage.signing import keep_key  # noqa: PLC0415

    with _reading(file) as archive:
        copied = await take_blobs(archive, members, open_store(settings))
        if (key := next((member for member in members if member.name == _KEY), None)) is not None:
            content = archive.extractfile(key)
            assert content is not None  # noqa: S101 - it is a file
            keep_key(settings, content.read())
    return copied


def _reading(file: Path) -> tarfile.TarFile:
    return tarfile.open(file, mode="r:")
