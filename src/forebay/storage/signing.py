"""Signed links to files, which work without signing in until they expire."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, InvalidField

if TYPE_CHECKING:
    from forebay.settings import Settings

_PARTS = struct.Struct("!BQQQ?")  # version, file, owner, expiry in seconds, inline
_VERSION = 1
_MAC_BYTES = 32
_FILE = "signing.key"


@dataclass(frozen=True, slots=True)
class FileLink:
    """The right to read one file until `expires_at`, in seconds since 1970."""

    file_id: int
    owner_id: int
    expires_at: int
    inline: bool


class Signer:
    """Creates and verifies the tokens of links."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.sha256(b"forebay links\0" + key).digest()

    def sign(self, link: FileLink) -> str:
        body = _PARTS.pack(_VERSION, link.file_id, link.owner_id, link.expires_at, link.inline)
        return base64.urlsafe_b64encode(body + self._mac(body)).rstrip(b"=").decode()

    def read(self, token: str) -> FileLink:
        """Verify a token; the link may have expired.

        Raises: InvalidField when the signature is invalid.
        """
        data = _decoded(token)
        body, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(body)) or len(body) != _PARTS.size or body[0] != _VERSION:
            raise InvalidField("token", "is not a valid link")
        _, file_id, owner_id, expires_at, inline = _PARTS.unpack(body)
        return FileLink(file_id, owner_id, expires_at, inline)

    def _mac(self, body: bytes) -> bytes:
        return hmac.digest(self._key, body, "sha256")


def _decoded(token: str) -> bytes:
    """Raises: InvalidField for anything but the canonical encoding."""
    try:
        data = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        data = b""
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != token:
        raise InvalidField("token", "is not a valid link")
    return data


def open_signer(settings: Settings) -> Signer:
    """A signer with the configured key, or with a generated one in the data folder.

    Raises: ConfigError when there is neither.
    """
    if settings.signing_key is not None:
        return Signer(settings.signing_key.get_secret_value().encode())
    try:
        return Signer(_kept_key(key_file(settings)))
    except OSError as error:
        reason = f"cannot store a key in {settings.data_dir}: {os.strerror(error.errno or 0)}"
        raise ConfigError(f"{reason}; fix that, or set FOREBAY_SIGNING_KEY") from error


def key_file(settings: Settings) -> Path:
    """Where the generated key is, if there is one."""
    return settings.data_dir.absolute() / _FILE


def keep_key(settings: Settings, key: bytes) -> None:
    """Keep the key of a backup, unless this installation has one."""
    _keep(key_file(settings), key.strip())


def _kept_key(kept: Path) -> bytes:
    """The stored key, created if needed; concurrent callers get the same one."""
    if not kept.exists():
        _keep(kept, secrets.token_hex(32).encode())
    key = kept.read_bytes().strip()
    if len(key) < _MAC_BYTES:
        raise ConfigError(f"{kept} is not a key: delete it to create a new one")
    return key


def _keep(kept: Path, key: bytes) -> None:
    """Write the key atomically, readable by this account only; an existing key stays."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{_FILE}.", dir=kept.parent)  # mode 600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(name, kept)
    finally:
        Path(name).unlink()
