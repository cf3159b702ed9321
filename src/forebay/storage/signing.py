"""Links to files that work without signing in, until they expire: signed by a key that only we have."""

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

_PARTS = struct.Struct("!BQQQ?")  # version, file, owner, end in seconds, shown in place
_VERSION = 1
_MAC_BYTES = 32
_FILE = "signing.key"


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to read one file until `expires_at`, in seconds since 1970."""

    file_id: int
    owner_id: int
    expires_at: int
    inline: bool


class Signer:
    """Makes and reads tokens."""

    def __init__(self, key: bytes) -> None:
        self._key = hashlib.sha256(b"forebay links\0" + key).digest()

    def sign(self, grant: Grant) -> str:
        body = _PARTS.pack(_VERSION, grant.file_id, grant.owner_id, grant.expires_at, grant.inline)
        return base64.urlsafe_b64encode(body + self._mac(body)).rstrip(b"=").decode()

    def read(self, token: str) -> Grant:
        """What a token of ours grants, whether that is over or not.

        Raises: InvalidField when it is not ours.
        """
        data = _decoded(token)
        body, mac = data[:-_MAC_BYTES], data[-_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(body)) or len(body) != _PARTS.size or body[0] != _VERSION:
            raise InvalidField("token", "is not a link of ours")
        _, file_id, owner_id, expires_at, inline = _PARTS.unpack(body)
        return Grant(file_id, owner_id, expires_at, inline)

    def _mac(self, body: bytes) -> bytes:
        return hmac.digest(self._key, body, "sha256")


def _decoded(token: str) -> bytes:
    """Raises: InvalidField for what no encoder writes, so that a link has one spelling only."""
    try:
        data = base64.b64decode(token.encode("ascii") + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        data = b""
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != token:
        raise InvalidField("token", "is not a link of ours")
    return data


def open_signer(settings: Settings) -> Signer:
    """Signs with the key of the settings, or with one that is made in the data folder.

    Raises: ConfigError when neither can be had.
    """
    if settings.signing_key is not None:
        return Signer(settings.signing_key.get_secret_value().encode())
    try:
        return Signer(_kept_key(settings.data_dir.absolute()))
    except OSError as error:
        reason = f"cannot keep a key in {settings.data_dir}: {os.strerror(error.errno or 0)}"
        raise ConfigError(f"{reason}; fix that, or set FOREBAY_SIGNING_KEY") from error


def _kept_key(folder: Path) -> bytes:
    """The same for all who ask, also for those who ask first at the same time."""
    kept = folder / _FILE
    if not kept.exists():
        _keep(kept, secrets.token_hex(32).encode())
    key = kept.read_bytes().strip()
    if len(key) < _MAC_BYTES:
        raise ConfigError(f"{kept} is not a key: delete it to have one made")
    return key


def _keep(kept: Path, key: bytes) -> None:
    """Whole or not at all, for nobody else to read; whoever comes second uses the first one's."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{_FILE}.", dir=kept.parent)  # readable by its owner only
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(name, kept)
    finally:
        Path(name).unlink()
