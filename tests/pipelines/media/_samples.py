"""Small media, made by ffmpeg once for a test run."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

HAS_FFMPEG = shutil.which("ffmpeg") is not None
needs_ffmpeg = pytest.mark.skipif(not HAS_FFMPEG and os.environ.get("CI") != "true", reason="ffmpeg is not installed")

_VIDEO = ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=2"]
_SOUND = ["-f", "lavfi", "-i", "sine=frequency=440:duration=2"]
_CODED = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "10", "-c:a", "aac", "-b:a", "48k"]


@dataclass(frozen=True)
class Samples:
    """Two seconds of a test picture and a tone, in several forms."""

    folder: Path
    clip: bytes  # MP4 with video and sound
    sound: bytes  # M4A
    picture: bytes  # JPEG

    def files(self, name: str) -> list[tuple[str, bytes, str]]:
        """The playlist and the segments of a stream: `hls` or `dash`."""
        kinds = {".m3u8": "application/vnd.apple.mpegurl", ".mpd": "application/dash+xml", ".ts": "video/mp2t"}
        found = sorted((self.folder / name).iterdir())
        return [(file.name, file.read_bytes(), kinds.get(file.suffix, "video/mp4")) for file in found]


def make_samples(folder: Path) -> Samples:
    for name in ("hls", "dash"):
        (folder / name).mkdir()
    _run(*_VIDEO, *_SOUND, *_CODED, "-metadata", "title=A test picture", "-movflags", "+faststart",
         str(folder / "clip.mp4"))  # fmt: skip
    _run("-i", str(folder / "clip.mp4"), "-vn", "-c", "copy", str(folder / "sound.m4a"))
    _run("-i", str(folder / "clip.mp4"), "-frames:v", "1", str(folder / "picture.jpg"))
    _run("-i", str(folder / "clip.mp4"), "-c", "copy", "-hls_time", "1", "-hls_playlist_type", "vod",
         "-hls_segment_filename", str(folder / "hls/part%d.ts"), str(folder / "hls/index.m3u8"))  # fmt: skip
    _run(
        "-i", str(folder / "clip.mp4"), "-c", "copy", "-seg_duration", "1", "-f", "dash", str(folder / "dash/index.mpd")
    )
    read = {name: (folder / name).read_bytes() for name in ("clip.mp4", "sound.m4a", "picture.jpg")}
    return Samples(folder, read["clip.mp4"], read["sound.m4a"], read["picture.jpg"])


def _run(*arguments: str) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments], check=True, capture_output=True)


def padded(clip: bytes, size: int) -> bytes:
    """The same MP4 with a box that players skip, so that it has this size."""
    left = size - len(clip) - 8
    noise = bytes(range(256)) * (left // 256 + 1)
    return clip + struct.pack(">I4s", left + 8, b"free") + noise[:left]
