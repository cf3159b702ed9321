"""Files in `forebay doctor`: the store, and what reads images, PDF, text in images and speech."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.cli import _show as show
from forebay.cli._doctor_disk_space import of_space
from forebay.errors import ConfigError, ForebayError, InvalidField
from forebay.hooks import Finding

if TYPE_CHECKING:
    from forebay.hooks import Level
    from forebay.settings import Settings
    from forebay.storage import Store

_TIMEOUT_S = 20.0

_EXTRAS = {
    "images": (("PIL", "pypdfium2", "blurhash_rs"), "only images and PDF need it"),
    "ocr": (("rapidocr", "onnxruntime"), "only text in images needs it"),
}


async def examine(settings: Settings) -> list[Finding]:
    return [await _storage(settings), *_installed(), _captions(settings), _speech(settings)]


def _installed() -> Iterator[Finding]:
    for extra, (modules, who) in _EXTRAS.items():
        yield of_extra(extra, modules, who)


def of_extra(extra: str, modules: tuple[str, ...], who: str) -> Finding:
    """Whether the modules of an extra are installed, and what needs them."""
    if all(find_spec(name) for name in modules):
        return Finding("OK", extra, "installed")
    return Finding("OK", extra, f"not installed; {who}: pip install 'forebay[{extra}]'")


def _captions(settings: Settings) -> Finding:
    if not settings.caption_url:
        return Finding("OK", "captions", "off: FOREBAY_CAPTION_URL is not set")
    if not settings.caption_model:
        return Finding("FAIL", "captions", "FOREBAY_CAPTION_URL is set, but no model", "set FOREBAY_CAPTION_MODEL")
    return Finding("OK", "captions", f"{settings.caption_model} at {urlsplit(settings.caption_url).hostname}")


def _speech(settings: Settings) -> Finding:
    from forebay.services.speech.models import find_model  # noqa: PLC0415 - few commands need it

    if settings.speech_url and not settings.speech_model:
        return Finding("FAIL", "speech", "FOREBAY_SPEECH_URL is set, but no model", "set FOREBAY_SPEECH_MODEL")
    if settings.speech_url:
        return Finding("OK", "speech", f"{settings.speech_model} at {urlsplit(settings.speech_url).hostname}")
    try:
        return Finding("OK", "speech", f"{find_model(settings).name} on this machine")
    except ConfigError as error:
        level: Level = "OK" if settings.speech_model_dir is None else "FAIL"
        return Finding(level, "speech", f"off: {error}", None if level == "OK" else "fix FOREBAY_SPEECH_MODEL_DIR")


async def _storage(settings: Settings) -> Finding:
    if find_spec("obstore") is None:
        return Finding("OK", "storage", "not installed; only files need it: pip install 'forebay[storage]'")
    from forebay.storage import open_store  # noqa: PLC0415 - an extra

    try:
        store = open_store(settings)
        async with asyncio.timeout(_TIMEOUT_S):
            return await _probed(store)
    except InvalidField as error:
        return Finding("FAIL", "storage", str(error), "fix FOREBAY_STORAGE_URL")
    except TimeoutError:
        return Finding(
            "FAIL", "storage", f"{settings.storage_url} does not answer", "check the FOREBAY_STORAGE_… settings"
        )
    except (ForebayError, OSError) as error:
        return Finding("FAIL", "storage", str(error), "check the FOREBAY_STORAGE_… settings, and the rights there")


async def _probed(store: Store) -> Finding:
    """Write, find and delete an object; a missing folder is not created for this."""
    from forebay.storage.local import LocalStore, nearest  # noqa: PLC0415 - an extra

    if not isinstance(store, LocalStore) or store.folder.exists():
        await _try_out(store)
    elif not os.access(above := nearest(store.folder), os.W_OK):
        text = f"{store.folder} does not exist and cannot be created"
        return Finding("FAIL", "storage", text, f"allow writing in {above}, or set FOREBAY_STORAGE_URL")
    free = store.free_bytes()
    if free is None:
        return Finding("OK", "storage", f"{store.place} can be written and read")
    level = of_space(free)
    fix = None if level == "OK" else f"free some space on the disk of {store.place}, or set FOREBAY_STORAGE_URL"
    return Finding(level, "storage", f"{store.place}, {show.size(free)} free", fix)


async def _try_out(store: Store) -> None:
    from forebay.storage.spool import spooled  # noqa: PLC0415 - an extra

    key = f"probe/{secrets.token_hex(8)}"
    async with spooled(b"forebay doctor", store.spool) as spool:
        await store.put(key, spool, "text/plain")
    found = await store.find(key)
    await store.delete(key)
    if found is None:
        raise ForebayError(f"{store.place} did not return what was written")
