"""Files of media that strangers made: what is in them, and their posters."""

from __future__ import annotations

import io
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from forebay.errors import ConfigError, DataError
from forebay.services import av_files
from tests.pipelines.media._samples import needs_ffmpeg

pytestmark = needs_ffmpeg
_LEFT_IS_RED = "color=red:size=80x120:rate=10:duration=1[l];color=blue:size=80x120:rate=10:duration=1[r];[l][r]hstack"


def _made(path: Path, *arguments: str) -> Path:
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments, str(path)], check=True)
    return path


def _film(path: Path, *more: str) -> Path:
    return _made(path, "-f", "lavfi", "-i", _LEFT_IS_RED, *more, "-c:v", "libx264", "-pix_fmt", "yuv420p")


def test_a_video_and_its_poster(tmp_path: Path) -> None:
    found = av_files.read(_film(tmp_path / "a.mp4"))
    facts = found.facts
    assert (facts.kind, facts.media_type, facts.container, facts.video_codec) == ("video", "video/mp4", "mp4", "h264")
    assert (facts.width, facts.height, facts.duration_s, facts.audio_codec) == (160, 120, 1.0, None)
    assert found.poster is not None
    assert found.picture is not None
    assert found.picture.thumbnails
    with Image.open(io.BytesIO(found.poster)) as poster:
        left, right = poster.getpixel((20, 60)), poster.getpixel((140, 60))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[0] - left[2] > 150
    assert right[2] - right[0] > 150


def test_a_video_of_a_telephone_is_shown_upright(tmp_path: Path) -> None:
    turned = _film(tmp_path / "turned.mp4")
    data = bytearray(turned.read_bytes())
    matrix = data.index(b"tkhd") + 4 + 40
    data[matrix : matrix + 36] = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
    turned.write_bytes(data)
    found = av_files.read(turned)
    assert (found.facts.width, found.facts.height) == (120, 160)
    assert found.poster is not None
    upright = _made(tmp_path / "upright.png", "-i", str(turned), "-frames:v", "1")  # as ffmpeg shows it
    with Image.open(io.BytesIO(found.poster)) as poster, Image.open(upright) as expected:
        assert poster.size == expected.size
        ours, theirs = (each.convert("RGB").getpixel((60, 20)) for each in (poster, expected))
    assert isinstance(ours, tuple)
    assert isinstance(theirs, tuple)
    assert ours.index(max(ours)) == theirs.index(max(theirs))


def test_the_cover_of_an_album_is_no_video(tmp_path: Path) -> None:
    cover = _made(tmp_path / "cover.png", "-f", "lavfi", "-i", "color=red:size=64x64", "-frames:v", "1")
    tone = ("-f", "lavfi", "-i", "sine=duration=1", "-i", str(cover), "-map", "0", "-map", "1")
    song = _made(tmp_path / "song.mp3", *tone, "-metadata", "title=A tone", "-disposition:v", "attached_pic")
    found = av_files.read(song)
    assert (found.facts.kind, found.facts.media_type, found.facts.title) == ("audio", "audio/mpeg", "A tone")
    assert (found.facts.width, found.facts.video_codec, found.poster) == (None, None, None)


@pytest.mark.parametrize("content", [b"", b"no media" * 1000, b"\x1aE\xdf\xa3" + bytes(4000)])
def test_what_is_no_media_is_rejected(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError, match="is not media that can be played"):
        av_files.read(tmp_path / "file")


def test_subtitles_alone_are_no_media(tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nWords.\n")
    file = _made(tmp_path / "a.mkv", "-i", str(tmp_path / "a.srt"))
    with pytest.raises(DataError, match="it has neither video nor audio"):
        av_files.read(file)


def test_a_playlist_opens_no_other_file(tmp_path: Path) -> None:
    _film(tmp_path / "secret.ts")
    (tmp_path / "list").write_text(f"ffconcat version 1.0\nfile {tmp_path / 'secret.ts'}\n")
    with pytest.raises(DataError, match="is not media that can be played"):
        av_files.read(tmp_path / "list")


def test_frames_that_cannot_be_decoded_cost_the_poster_only(tmp_path: Path) -> None:
    data = bytearray(_film(tmp_path / "a.mp4", "-movflags", "+faststart").read_bytes())
    begin = data.index(b"mdat") + 4
    data[begin:] = bytes(len(data) - begin)
    (tmp_path / "a.mp4").write_bytes(data)
    found = av_files.read(tmp_path / "a.mp4")
    assert (found.facts.kind, found.poster, found.picture) == ("video", None, None)
    assert found.no_poster


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(av_files, "import_module", missing)
    (tmp_path / "file").write_bytes(b"x" * 100)
    with pytest.raises(ConfigError) as caught:
        av_files.read(tmp_path / "file")
    assert str(caught.value) == "media need packages that are not installed: pip install 'forebay[media]'"


def test_a_video_without_frames() -> None:
    empty = SimpleNamespace(duration=0, decode=lambda _: iter(()))
    with pytest.raises(DataError, match="it has no frames"):
        av_files._poster(empty, SimpleNamespace(codec_context=SimpleNamespace(thread_count=0)))
