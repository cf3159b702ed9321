"""What a downloaded file is: ffprobe reads its container, and ffmpeg makes a poster of a video. Both in a sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay import resources
from forebay.engine.declare.resources import Resources, resource
from forebay.errors import ConfigError, DataError, StepError, TransientError
from forebay.log import get_logger
from forebay.pipelines.image_tools import READ_PICTURE
from forebay.pipelines.media.programs import run_offline
from forebay.runner.program import ProgramLimits

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.pipelines.media.kinds import ShareKind
    from forebay.services.images import Picture

log = get_logger("media")

_LIMITS = ProgramLimits(memory_mb=1024, timeout=120, cpu_s=60, file_mb=64, output_mb=64, processes=64)
# Containers, and nothing that refers to other files, as playlists do.
_DEMUXERS = (
    "mov,matroska,webm,mp3,ogg,flac,wav,aac,ac3,avi,mpegts,mpeg,flv,asf,amr,aiff,caf,au,3gp,gif,apng,"
    "png_pipe,jpeg_pipe,webp_pipe,bmp_pipe,h264,hevc,ivf,nut,rm,dv,w64,tta,wv,ape"
)
_ENTRIES = (
    "format=format_name,duration:format_tags=title,major_brand:stream=codec_type,codec_name,width,height,duration:"
    "stream_disposition=attached_pic:stream_side_data=rotation"
)
_IMAGES = ((b"\x89PNG", 0), (b"\xff\xd8\xff", 0), (b"GIF8", 0), (b"WEBP", 8), (b"ftypavif", 4), (b"BM", 0))
_EXTENSIONS = {"video/quicktime": "mov", "video/x-matroska": "mkv", "audio/mpeg": "mp3", "audio/mp4": "m4a",
               "video/mp2t": "ts", "audio/x-wav": "wav", "image/jpeg": "jpg"}  # fmt: skip
_TYPES = {
    "mp4": ("video/mp4", "audio/mp4"), "mov": ("video/quicktime", "audio/mp4"), "webm": ("video/webm", "audio/webm"),
    "matroska": ("video/x-matroska", "audio/x-matroska"), "mp3": ("audio/mpeg", "audio/mpeg"),
    "ogg": ("video/ogg", "audio/ogg"), "flac": ("audio/flac", "audio/flac"), "wav": ("audio/x-wav", "audio/x-wav"),
    "mpegts": ("video/mp2t", "video/mp2t"), "avi": ("video/x-msvideo", "video/x-msvideo"),
    "flv": ("video/x-flv", "video/x-flv"), "aac": ("audio/aac", "audio/aac"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts about a file of media."""

    kind: ShareKind
    media_type: str
    container: str
    duration_s: float | None = None
    width: int | None = None
    height: int | None = None
    video_codec: str | None = None
    audio_codec: str | None = None
    title: str | None = None
    picture: Picture | None = None  # of an image

    @property
    def file_name(self) -> str:
        """A name for the file that owes nothing to its source."""
        return f"media.{_EXTENSIONS.get(self.media_type, self.media_type.partition('/')[2])}"


@resource
async def inspections(_: Resources) -> AsyncGenerator[asyncio.Semaphore]:
    """One inspection for each processor: a hundred downloads need little, a hundred programs that read files much."""
    yield asyncio.Semaphore(len(os.sched_getaffinity(0)))


async def inspect_file(ctx: Context, path: Path) -> FileFacts:
    """Find out what a file is, whatever its source says.

    Raises: DataError when it is not media; ConfigError when a program is missing.
    """
    if await asyncio.to_thread(_is_image, path):
        picture = await ctx.call(READ_PICTURE, path)
        facts = picture.facts
        return FileFacts(
            "image", facts.media_type, facts.format, width=facts.width, height=facts.height, picture=picture
        )
    return _facts(await _probe(ctx, path))


def _is_image(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(16)
    return any(head[at : at + len(magic)] == magic for magic, at in _IMAGES)


async def _probe(ctx: Context, path: Path) -> dict[str, Any]:
    """What ffprobe says.

    Raises: DataError, ConfigError, TransientError.
    """
    argv = ["ffprobe", "-v", "error", "-hide_banner", "-protocol_whitelist", "file", "-format_whitelist", _DEMUXERS,
            "-print_format", "json=compact=1", "-show_format", "-show_streams", "-show_entries",
            _ENTRIES,
            "-i", "@INPUTS@/media"]  # fmt: skip
    lines: list[str] = []
    done = await run_offline(ctx, argv, inputs={"media": path}, limits=_LIMITS, on_line=lines.append)
    text = "\n".join(lines)
    if done.status != 0:
        raise DataError(f"is not media that can be played: {_last_words(text)}")
    try:
        found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError as error:
        raise TransientError(f"ffprobe printed something else than JSON: {text[-200:]}") from error
    return found


def _last_words(text: str) -> str:
    said = [line.removeprefix("/inputs/media: ") for line in text.splitlines() if line.strip() not in ("", "{", "}")]
    return said[-1][:300] if said else "ffprobe cannot read it"


def _facts(found: dict[str, Any]) -> FileFacts:
    """Raises: DataError when there is nothing to play."""
    streams: list[dict[str, Any]] = found.get("streams", [])
    about: dict[str, Any] = found.get("format", {})
    covers = [each for each in streams if each.get("disposition", {}).get("attached_pic")]
    video = next((each for each in streams if each.get("codec_type") == "video" and each not in covers), None)
    audio = next((each for each in streams if each.get("codec_type") == "audio"), None)
    if video is None and audio is None:
        raise DataError("is not media that can be played: it has neither video nor audio")
    container = _container(about)
    tags: dict[str, Any] = about.get("tags", {})
    width, height = _size(video)
    return FileFacts(
        "video" if video is not None else "audio",
        _TYPES.get(container, ("video/x-media", "audio/x-media"))[0 if video is not None else 1],
        container,
        _number(about.get("duration")),
        width,
        height,
        None if video is None else video.get("codec_name"),
        None if audio is None else audio.get("codec_name"),
        str(tags["title"])[:1000].replace("\0", "") if tags.get("title") else None,
    )


def _container(about: dict[str, Any]) -> str:
    names = str(about.get("format_name", "")).split(",")
    if "mp4" in names:
        brand = str(about.get("tags", {}).get("major_brand", "")).strip()
        return "mov" if brand == "qt" else "mp4"
    if "webm" in names:
        return "webm" if "matroska" not in names else "matroska"
    return names[0]


def _size(video: dict[str, Any] | None) -> tuple[int | None, int | None]:
    """As it is shown: a video of a telephone may be turned."""
    if video is None:
        return None, None
    turned = any(abs(int(each.get("rotation") or 0)) in (90, 270) for each in video.get("side_data_list", []))
    size = video.get("width"), video.get("height")
    return (size[1], size[0]) if turned else size


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


async def remuxed(ctx: Context, path: Path) -> Path:
    """A file that browsers play: the parts of a stream are joined in a container that they do not know. The video and
    the sound stay as they are.

    Raises: DataError, ConfigError, TransientError.
    """
    await asyncio.to_thread(path.chmod, 0o644)  # its folders are private; a sandboxed program reads it without a copy
    if _facts(await _probe(ctx, path)).container != "mpegts":
        return path
    argv = ["ffmpeg", "-v", "error", "-nostdin", "-hide_banner", "-protocol_whitelist", "file,pipe",
            "-format_whitelist", _DEMUXERS, "-i", "@INPUTS@/media", "-map", "0:v?", "-map", "0:a?", "-c", "copy",
            "-movflags", "+faststart", "-f", "mp4", "-y", "@OUTPUT@/whole.mp4"]  # fmt: skip
    size = (await asyncio.to_thread(path.stat)).st_size // (1 << 20) + 16
    limits = replace(_LIMITS, timeout=600, cpu_s=300, file_mb=2 * size, output_mb=3 * size)
    done = await run_offline(ctx, argv, inputs={"media": path}, output=path.parent, limits=limits)
    made = path.with_name("whole.mp4")
    if done.status != 0 or made not in done.files:
        raise DataError(f"is not media that can be played: {_last_words(done.said)}")
    return made


async def make_poster(ctx: Context, path: Path, facts: FileFacts) -> tuple[bytes, Picture] | None:
    """A picture of a video, from its first tenth; None without one, which is no failure."""
    if facts.kind != "video":
        return None
    at = min(10.0, (facts.duration_s or 0) / 10)
    argv = ["ffmpeg", "-v", "error", "-nostdin", "-hide_banner", "-protocol_whitelist", "file,pipe",
            "-format_whitelist", _DEMUXERS, "-ss", f"{at:.3f}", "-i", "@INPUTS@/media", "-an", "-sn", "-frames:v", "1",
            "-vf", "scale='min(1280,iw)':-2", "-q:v", "4", "-f", "image2", "-y", "@OUTPUT@/poster.jpg"]  # fmt: skip
    spool = (await ctx.get(resources.blobs)).store.spool
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="poster-", dir=spool))
    try:
        done = await run_offline(ctx, argv, inputs={"media": path}, output=folder, limits=_LIMITS)
        made = folder / "poster.jpg"
        if done.status != 0 or made not in done.files:
            log.warning("no_poster", job=ctx.job_id, error=_last_words(done.said))
            return None
        data = await asyncio.to_thread(made.read_bytes)
        return data, await ctx.call(READ_PICTURE, data)
    except StepError as error:
        if isinstance(error, ConfigError):
            raise
        log.warning("no_poster", job=ctx.job_id, error=str(error))
        return None
    finally:
        await asyncio.to_thread(_remove, folder)


def _remove(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
