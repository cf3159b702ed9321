"""Reads untrusted files of media: what is in them, and a poster of a video. Plain functions, to be run in a limited
process.

It has FFmpeg's libraries and goes on to the next file: starting ffprobe and ffmpeg, each in a sandbox of its own, costs
a hundred times as much as what they do.
"""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError
from forebay.services import images

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
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
# At most so much is decoded, from the key frame before the moment of the poster: 300 frames of 1920 x 1080.
_POSTER_FRAMES = 300
_POSTER_PIXELS = _POSTER_FRAMES * 1920 * 1080
_ROTATION = re.compile(r"display ?matrix: rotation of (-?\d+)", re.IGNORECASE)
_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
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
        if video is None:
            return AVFile(facts)
        rotation = _rotation(container, video)
        if not with_poster:
            return AVFile(_turned(facts, rotation))
        failures: tuple[type[Exception], ...] = (DataError, *damaged())
        try:
            poster, rotation = _poster(container, video)
            picture = images.picture(poster)
        except failures as error:
            return AVFile(_turned(facts, rotation), no_poster=reason(error))
    return AVFile(_turned(facts, rotation), picture, poster)


@contextmanager
def opened(path: Path) -> Generator[Any]:
    """The container of a file. FFmpeg reads what we have opened, and opens nothing. What FFmpeg raises while the
    container is open is a fault of the file, too.

    Raises: DataError, ConfigError.
    """
    try:
        av = import_module("av")
    except ImportError as error:
        raise ConfigError(MISSING) from error
    with path.open("rb") as file:
        try:
            container = av.open(file, metadata_errors="replace", options=dict(OPTIONS))
        except damaged() as error:
            raise DataError(f"{_NOTHING}: {reason(error)}") from error
        try:
            with container:
                yield container
        except av.FFmpegError as error:
            raise DataError(f"{_NOTHING}: {reason(error)}") from error


def damaged() -> tuple[type[Exception], ...]:
    """What FFmpeg raises for damaged files. Of its errors, some are no other errors, and one is a MemoryError: that a
    file asks for too much memory."""
    return (import_module("av").FFmpegError, *_DAMAGED)


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
    picture = None if video is None else video.codec_context  # None also where FFmpeg has no decoder
    return FileFacts(
        kind="audio" if video is None else "video",
        media_type=_TYPES.get(kind, ("video/x-media", "audio/x-media"))[video is None],
        container=kind,
        duration_s=container.duration / 1_000_000 if container.duration else None,
        width=None if picture is None else picture.width or None,
        height=None if picture is None else picture.height or None,
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


def _turned(facts: FileFacts, rotation: int) -> FileFacts:
    """The facts of a video as it is shown: those of telephones are turned by a quarter."""
    if abs(rotation) % 180 != 90:
        return facts
    return facts.model_copy(update={"width": facts.height, "height": facts.width})


def _rotation(container: Any, video: Any) -> int:
    """By how many degrees the container says that a video is turned. PyAV tells it only of frames, and in its text."""
    logging = import_module("av").logging
    logging.set_level(logging.INFO)  # below, the text is empty
    try:
        streams = re.split(r"^ *Stream #\d+:", container.dumps_format(), flags=re.MULTILINE)[1:]
    finally:
        logging.set_level(None)
    mine = next((each for each in streams if re.match(rf"{video.index}\b", each)), "")
    told = _ROTATION.search(mine)
    return 0 if told is None else int(told[1])


def _poster(container: Any, video: Any) -> tuple[bytes, int]:
    """A picture from the first tenth of a video, as it is shown, and its rotation in degrees."""
    frame = _poster_frame(container, video)
    scale = min(1.0, _POSTER_SIDE / max(frame.width, frame.height))
    image = frame.to_image(width=max(1, round(frame.width * scale)), height=max(1, round(frame.height * scale)))
    rotation = int(frame.rotation or 0)
    if rotation:
        image = image.rotate(rotation, expand=True)
    made = io.BytesIO()
    image.save(made, "JPEG", quality=85)
    return made.getvalue(), rotation


def _poster_frame(container: Any, video: Any) -> Any:
    """The frame at the moment of the poster, or the last one before it that few enough had to be decoded for.

    Raises: DataError.
    """
    context = video.codec_context
    if context is None:
        raise DataError("FFmpeg has no decoder for its video")
    pixels = max(1, context.width * context.height)
    if pixels > images.MAX_PIXELS:
        raise DataError(f"its frames have {pixels} pixels; a poster may have {images.MAX_PIXELS}")
    context.thread_count = 1
    begin, later = container.start_time or 0, min(10_000_000, (container.duration or 0) // 10)
    moment, most = (begin + later) / 1_000_000, min(_POSTER_FRAMES, _POSTER_PIXELS // pixels)
    if later:
        container.seek(begin + later)
    frame = _frame_until(moment, container.decode(video), most)
    if frame is None and later:  # some containers lead behind the moment, where no key frame may follow
        container.seek(min(0, begin))
        frame = _frame_until(moment, container.decode(video), most)
    if frame is None:
        raise DataError("it has no frames")
    return frame


def _frame_until(moment: float, frames: Iterable[Any], most: int) -> Any | None:
    """The first frame at a moment or later, or else the last of so many."""
    frame = None
    for number, frame in enumerate(frames, 1):
        if number >= most or frame.time is None or frame.time >= moment:
            break
    return frame
