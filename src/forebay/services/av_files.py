"""Reads untrusted files of media: what is in them, and a poster of a video. Plain functions, to be run in a limited
process.

It has FFmpeg's libraries and goes on to the next file: starting ffprobe and ffmpeg, each in a sandbox of its own, costs
a hundred times as much as what they do.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError
from forebay.services import images

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PACKAGES = ("av", *images.PACKAGES)
MISSING = "media need packages that are not installed: pip install 'forebay[media]'"
# Containers, and nothing that refers to other files, as playlists do; no other file could be opened either.
_FORMATS = (
    "mov,matroska,webm,mp3,ogg,flac,wav,aac,ac3,avi,mpegts,mpeg,flv,asf,amr,aiff,caf,au,3gp,gif,apng,"
    "png_pipe,jpeg_pipe,webp_pipe,bmp_pipe,h264,hevc,ivf,nut,rm,dv,w64,tta,wv,ape"
)
OPTIONS = {"protocol_whitelist": "none", "format_whitelist": _FORMATS}
TEXT_CODECS = frozenset(("ass", "mov_text", "subrip", "text", "webvtt"))  # subtitles that are no pictures
_IMAGES = ((b"\x89PNG", 0), (b"\xff\xd8\xff", 0), (b"GIF8", 0), (b"WEBP", 8), (b"ftypavif", 4), (b"BM", 0))
_NOTHING = "is not media that can be played"
_POSTER_SIDE = 1280
_POSTER_FRAMES = 300  # frames that are decoded at most, from the key frame before the moment of the poster
DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_EXTENSIONS = {"video/quicktime": "mov", "video/x-matroska": "mkv", "audio/mpeg": "mp3", "audio/mp4": "m4a",
               "video/mp2t": "ts", "audio/x-wav": "wav", "image/jpeg": "jpg"}  # fmt: skip
_TYPES = {
    "mp4": ("video/mp4", "audio/mp4"), "mov": ("video/quicktime", "audio/mp4"), "webm": ("video/webm", "audio/webm"),
    "matroska": ("video/x-matroska", "audio/x-matroska"), "mp3": ("audio/mpeg", "audio/mpeg"),
    "ogg": ("video/ogg", "audio/ogg"), "flac": ("audio/flac", "audio/flac"), "wav": ("audio/x-wav", "audio/x-wav"),
    "mpegts": ("video/mp2t", "video/mp2t"), "avi": ("video/x-msvideo", "video/x-msvideo"),
    "flv": ("video/x-flv", "video/x-flv"), "aac": ("audio/aac", "audio/aac"),
}  # fmt: skip


class FileFacts(BaseModel):
    """Facts about a file of media, whatever its source says."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["video", "audio", "image"]
    media_type: str
    container: str
    duration_s: float | None = None
    width: int | None = None
    height: int | None = None
    video_codec: str | None = None
    audio_codec: str | None = None
    title: str | None = None
    has_subtitles: bool = False  # as text, inside the file

    @property
    def file_name(self) -> str:
        """A name for the file that owes nothing to its source."""
        return f"media.{_EXTENSIONS.get(self.media_type, self.media_type.partition('/')[2])}"


class AVFile(NamedTuple):
    """A file of media. `picture` is of an image itself, or of the poster (a JPEG) of a video, if it has one."""

    facts: FileFacts
    picture: images.Picture | None = None
    poster: bytes | None = None
    no_poster: str | None = None  # why a video has no poster


def read(path: Path, *, with_poster: bool = True) -> AVFile:
    """Find out what a file is.

    Raises: DataError when it is not media; ConfigError when packages are missing.
    """
    if _is_image(path):
        picture = images.picture(path)
        about = picture.facts
        facts = FileFacts(
            kind="image", media_type=about.media_type, container=about.format, width=about.width, height=about.height
        )
        return AVFile(facts, picture)
    with opened(path) as container:
        video, audio = _streams(container)
        facts = _facts(container, video, audio)
        if video is None or not with_poster:
            return AVFile(facts)
        try:
            poster, turned = _poster(container, video)
            picture = images.picture(poster)
        except (DataError, *DAMAGED) as error:
            return AVFile(facts, no_poster=reason(error))
    if turned:  # a video of a telephone
        facts = facts.model_copy(update={"width": facts.height, "height": facts.width})
    return AVFile(facts, picture, poster)


@contextmanager
def opened(path: Path) -> Generator[Any]:
    """The container of a file. FFmpeg reads what we have opened, and opens nothing.

    Raises: DataError, ConfigError.
    """
    try:
        av = import_module("av")
    except ImportError as error:
        raise ConfigError(MISSING) from error
    with path.open("rb") as file:
        try:
            container = av.open(file, metadata_errors="replace", options=dict(OPTIONS))
        except DAMAGED as error:
            raise DataError(f"{_NOTHING}: {reason(error)}") from error
        with container:
            yield container


def reason(error: Exception) -> str:
    """The words of FFmpeg, without the number of the error and the name of the file."""
    return str(getattr(error, "strerror", None) or error)[:300]


def _is_image(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(16)
    return any(head[at : at + len(magic)] == magic for magic, at in _IMAGES)


def _streams(container: Any) -> tuple[Any | None, Any | None]:
    """The video and the audio; the cover of an album is no video.

    Raises: DataError when there is neither.
    """
    cover = import_module("av.stream").Disposition.attached_pic
    video = next((each for each in container.streams.video if not each.disposition & cover), None)
    audio = next(iter(container.streams.audio), None)
    if video is None and audio is None:
        raise DataError(f"{_NOTHING}: it has neither video nor audio")
    return video, audio


def _facts(container: Any, video: Any | None, audio: Any | None) -> FileFacts:
    kind, title = _container_of(container), container.metadata.get("title")
    return FileFacts(
        kind="audio" if video is None else "video",
        media_type=_TYPES.get(kind, ("video/x-media", "audio/x-media"))[video is None],
        container=kind,
        duration_s=container.duration / 1_000_000 if container.duration else None,
        width=None if video is None else video.width or None,
        height=None if video is None else video.height or None,
        video_codec=_codec(video),
        audio_codec=_codec(audio),
        title=title[:1000].replace("\0", "") if title else None,
        has_subtitles=bool(text_tracks(container)),
    )


def text_tracks(container: Any) -> list[Any]:
    """The subtitles that are text."""
    return [each for each in container.streams.subtitles if _codec(each) in TEXT_CODECS]


def _container_of(container: Any) -> str:
    names = str(container.format.name).split(",")
    if "mp4" in names:
        return "mov" if container.metadata.get("major_brand", "").strip() == "qt" else "mp4"
    if "webm" in names:
        return "webm" if "matroska" not in names else "matroska"
    return names[0]


def _codec(stream: Any | None) -> str | None:
    """The name of the format, not of its decoder; None also where FFmpeg has no decoder."""
    context = None if stream is None else stream.codec_context
    return None if context is None else str(context.codec.canonical_name)


def _poster(container: Any, video: Any) -> tuple[bytes, bool]:
    """A picture from the first tenth of a video, as it is shown, and whether it is turned by a quarter."""
    at = min(10.0, (container.duration or 0) / 10_000_000)
    video.codec_context.thread_count = 1
    if at:
        container.seek(int(at * 1_000_000))
    frame = None
    for number, frame in enumerate(container.decode(video)):
        if number >= _POSTER_FRAMES or frame.time is None or frame.time >= at:
            break
    if frame is None:
        raise DataError("it has no frames")
    scale = min(1.0, _POSTER_SIDE / max(frame.width, frame.height))
    image = frame.to_image(width=max(1, round(frame.width * scale)), height=max(1, round(frame.height * scale)))
    turned = int(frame.rotation or 0)
    if turned:
        image = image.rotate(turned, expand=True)
    made = io.BytesIO()
    image.save(made, "JPEG", quality=85)
    return made.getvalue(), abs(turned) in (90, 270)
