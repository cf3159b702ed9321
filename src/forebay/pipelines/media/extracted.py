"""Reads what an extractor has found: of one piece of media, or of a playlist."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from forebay.errors import PermanentError
from forebay.pipelines.media.found import Found
from forebay.pipelines.media.links import shared_url
from forebay.services.egress import InvalidUrl, checked_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.settings import Settings

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MOST_SUBTITLES = 20
_SECRET = ("cookie", "authorization")


@dataclass(frozen=True, slots=True)
class Entry:
    """One of a playlist."""

    url: str
    title: str | None


@dataclass(frozen=True, slots=True)
class PlainFile:
    """Media that is one file at one URL, for which no extractor is needed any more."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def found_of(info: dict[str, Any], url: str) -> Found:
    """Raises: PermanentError for what cannot be downloaded."""
    if info.get("is_live"):
        raise PermanentError("is a live stream, which has no end: share it when it is over")
    if info.get("_has_drm"):
        raise PermanentError("is protected by DRM and cannot be downloaded")
    is_list = info.get("_type") in ("playlist", "multi_video")
    has_video = info.get("vcodec") not in (None, "none") or (info.get("width") or 0) > 0
    is_sound = info.get("vcodec") == "none" and info.get("acodec") not in (None, "none")
    return Found(
        way="extractor",
        kind="playlist" if is_list else "video" if has_video else "audio" if is_sound else None,
        title=_text(info.get("title"), 1000),
        site=checked_url(url).host.removeprefix("www."),
        author=_text(info.get("uploader") or info.get("channel") or info.get("creator"), 500),
        description=_text(info.get("description"), 20_000),
        language=_text(info.get("language"), 35),
        published_at=_moment(info.get("timestamp") or info.get("release_timestamp")),
        duration_s=info.get("duration"),
        width=info.get("width"),
        height=info.get("height"),
        size=info.get("filesize") or info.get("filesize_approx"),
        is_plain=not is_list and plain_file(info) is not None,
        thumbnail=_text(info.get("thumbnail"), 8192),
        platform_data={
            name: value
            for name, value in {
                "extractor": _text(info.get("extractor_key") or info.get("extractor"), 100),
                "id": _text(info.get("id"), 300),
                "extractorName": _text(info.get("extractor"), 100),
                "webpageUrl": _text(info.get("webpage_url"), 8192),
                "subtitles": _subtitles(info),
            }.items()
            if value
        },
    )


def _text(value: object, most: int) -> str | None:
    """Text of a site, without characters that the database or a terminal would mind."""
    return _CONTROL.sub("", str(value)).strip()[:most] or None if value is not None else None


def _moment(seconds: object) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(float(str(seconds)), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _subtitles(info: dict[str, Any]) -> list[dict[str, str]]:
    """Where the subtitles are, by language, those of people before those of machines."""
    found: list[dict[str, str]] = []
    for name, automatic in (("subtitles", False), ("automatic_captions", True)):
        offered: dict[str, list[dict[str, Any]]] = info.get(name) or {}
        for language, files in offered.items():
            file = next((each for each in files if each.get("ext") in ("vtt", "srt") and each.get("url")), None)
            if file is not None and language != "live_chat":
                about: dict[str, str] = {
                    "language": language[:35],
                    "format": file["ext"],
                    "url": str(file["url"])[:8192],
                }
                found.append(about | {"source": "machine" if automatic else "people"})
    return found[:_MOST_SUBTITLES]


def entries_of(info: dict[str, Any], settings: Settings) -> list[Entry]:
    """The entries of a playlist that may be fetched, each once."""
    found: dict[str, Entry] = {}
    listed: list[dict[str, Any] | None] = info.get("entries") or []
    for entry in filter(None, listed):
        for text in entry.get("webpage_url"), entry.get("url"), _best_url(entry):
            try:
                url = str(shared_url(str(text or ""), settings))
            except InvalidUrl:
                continue
            if url != info.get("webpage_url") and url not in found:
                found[url] = Entry(url, _text(entry.get("title"), 1000))
                break
    return list(found.values())


def _best_url(entry: dict[str, Any]) -> str | None:
    formats: list[dict[str, str]] = entry.get("formats") or [{}]
    return formats[-1].get("url")


def plain_file(info: dict[str, Any]) -> PlainFile | None:
    """The URL, if the chosen format is a single file over HTTP."""
    chosen: list[dict[str, Any]] = info.get("requested_formats") or info.get("requested_downloads") or [info]
    if len(chosen) != 1 or chosen[0].get("protocol") not in ("http", "https") or chosen[0].get("fragments"):
        return None
    url: str | None = chosen[0].get("url") or info.get("url")
    if url is None or urlsplit(url).scheme not in ("http", "https"):
        return None
    headers: Mapping[str, str] = chosen[0].get("http_headers") or info.get("http_headers") or {}
    return PlainFile(url, {name.lower(): value for name, value in headers.items() if name.lower() not in _SECRET})
