"""The built files of the web app: read once, and again after a new build."""

from __future__ import annotations

import hashlib
import mimetypes
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(str(files("forebay"))) / "web"
_STAMP = "stamp"
_HIDDEN = frozenset((_STAMP, ".vite/manifest.json"))
_ENCODINGS = {".br": "br", ".gz": "gzip"}  # the best first
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file with its compressed forms, by encoding; "" is the file itself."""

    media_type: str
    etag: str
    forms: Mapping[str, bytes]
    is_immutable: bool

    def best(self, accepted: str) -> tuple[str, bytes]:
        """The encoding to send to a client with this Accept-Encoding, and the bytes."""
        names = {part.partition(";")[0].strip() for part in accepted.split(",") if "q=0" not in part.replace(" ", "")}
        for encoding in _ENCODINGS.values():
            if encoding in names and encoding in self.forms:
                return encoding, self.forms[encoding]
        return "", self.forms[""]


class WebFiles:
    """The files of a build by their paths; empty when nothing is built."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._files: dict[str, WebFile] = {}
        self._read_at: int | None = None

    def get(self, path: str) -> WebFile | None:
        self._refresh()
        return self._files.get(path)

    def _refresh(self) -> None:
        try:
            changed = (self._folder / _STAMP).stat().st_mtime_ns
        except FileNotFoundError:
            self._files, self._read_at = {}, None
            return
        if changed != self._read_at:
            self._files, self._read_at = dict(_read(self._folder)), changed


def _read(folder: Path) -> list[tuple[str, WebFile]]:
    found: list[tuple[str, WebFile]] = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in _HIDDEN and path.suffix not in _ENCODINGS:
            found.append((name, _file(path, name)))
    return found


def _file(path: Path, name: str) -> WebFile:
    data = path.read_bytes()
    forms = {"": data}
    for suffix, encoding in _ENCODINGS.items():
        compressed = path.with_name(path.name + suffix)
        if compressed.is_file():
            forms[encoding] = compressed.read_bytes()
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return WebFile(kind, f'"{hashlib.sha256(data).hexdigest()[:24]}"', forms, name.startswith("assets/"))
