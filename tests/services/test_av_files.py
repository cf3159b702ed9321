"""Files of media that strangers made: what is in them, and their posters."""

from __future__ import annotations

import io
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import av
import av.error
import pytest
from PIL import Image

from forebay.errors import ConfigError, DataError
from forebay.services import av_files, images
from tests.pipelines.media._samples import needs_ffmpeg

pytestmark = needs_ffmpeg
# Red for the first half of a second, then blue until the tenth second.
_SOON_BLUE = "color=red:size=64x64:rate=10:duration=0.5[a];color=blue:size=64x64:rate=10:duration=9.5[b];[a][b]concat"
_LEFT_IS_RED = "color=red:size=80x120:rate=10:duration=1[l];color=blue:size=80x120:rate=10:duration=1[r];[l][r]hstack"


def _made(path: Path, *arguments: str) -> Path:
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments, str(path)], check=True)
    return path


def _film(path: Path, *more: str) -> Path:
    return _made(path, "-f", "lavfi", "-i", _LEFT_IS_RED, *more, "-c:v", "libx264", "-pix_fmt", "yuv420p")


def _soon_blue(path: Path, *more: str) -> Path:
    return _made(path, "-f", "lavfi", "-i", _SOON_BLUE, "-c:v", "libx264", "-pix_fmt", "yuv420p", *more)


def _turned(path: Path) -> Path:
    """A video of a telephone: turned by a quarter when it is shown."""
    data = bytearray(_film(path, "-movflags", "+faststart").read_bytes())
    matrix = data.index(b"tkhd") + 4 + 40
    data[matrix : matrix + 36] = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path


def _without_frames(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    begin = data.index(b"mdat") + 4
    data[begin:] = bytes(len(data) - begin)
    path.write_bytes(data)
    return path


def _is_blue(poster: bytes | None) -> bool:
    assert poster is not None
    with Image.open(io.BytesIO(poster)) as image:
        pixel = image.convert("RGB").getpixel((32, 32))
    assert isinstance(pixel, tuple)
    return pixel[2] > pixel[0]


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
    turned = _turned(tmp_path / "turned.mp4")
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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n"),
        ("list", "ffconcat version 1.0\nfile {secret.name}\n"),
    ],
)
def test_a_playlist_opens_no_other_file(tmp_path: Path, name: str, text: str) -> None:
    secret, playlist = _film(tmp_path / "secret.ts"), tmp_path / name
    playlist.write_text(text.format(secret=secret))
    with playlist.open("rb") as file, av.open(file) as container:  # without our options, FFmpeg reads the other file
        assert container.streams.video[0].width == 160
    with pytest.raises(DataError, match="is not media that can be played"):
        av_files.read(playlist)


def test_frames_that_cannot_be_decoded_cost_the_poster_only(tmp_path: Path) -> None:
    found = av_files.read(_without_frames(_film(tmp_path / "a.mp4", "-movflags", "+faststart")))
    assert (found.facts.kind, found.poster, found.picture) == ("video", None, None)
    assert found.no_poster


def test_a_video_of_a_telephone_without_a_poster_is_upright(tmp_path: Path) -> None:
    turned = _turned(tmp_path / "a.mp4")
    facts = [av_files.read(turned, with_poster=False).facts, av_files.read(_without_frames(turned)).facts]
    assert [(each.width, each.height) for each in facts] == [(120, 160)] * 2


@pytest.mark.parametrize("sound", [(), ("-f", "lavfi", "-i", "sine=duration=1")])
def test_a_video_that_ffmpeg_cannot_decode_is_media(tmp_path: Path, sound: tuple[str, ...]) -> None:
    film = _film(tmp_path / "a.mp4", *sound)
    film.write_bytes(film.read_bytes().replace(b"avc1", b"zzz1").replace(b"avcC", b"free"))
    found = av_files.read(film)
    facts = found.facts
    assert (facts.kind, facts.video_codec, facts.width, facts.duration_s) == ("video", None, None, 1.0)
    assert facts.audio_codec == ("aac" if sound else None)
    assert (found.poster, found.no_poster) == (None, "FFmpeg has no decoder for its video")


def _of_a_later_format(folder: Path) -> bytes:
    film = _made(folder / "a.webm", "-f", "lavfi", "-i", _LEFT_IS_RED, "-c:v", "libvpx-vp9", "-deadline", "realtime")
    return film.read_bytes().replace(b"\x42\xf3\x81\x08", b"\x42\xf3\x81\xd5")  # sizes of 213 bytes


def _ending_in_its_head(folder: Path) -> bytes:
    sound = _made(folder / "a.ogg", "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "libvorbis")
    return sound.read_bytes().replace(b"\x01vorbis", b"\xddvorbis", 1)


@pytest.mark.parametrize(
    ("damaged", "error"), [(_of_a_later_format, "PatchWelcomeError"), (_ending_in_its_head, "EOFError")]
)
def test_whatever_ffmpeg_raises_is_a_fault_of_the_file(
    tmp_path: Path, damaged: Callable[[Path], bytes], error: str
) -> None:
    (tmp_path / "file").write_bytes(damaged(tmp_path))
    with pytest.raises(DataError, match="is not media that can be played: ") as caught:
        av_files.read(tmp_path / "file")
    assert type(caught.value.__cause__).__name__ == error


@pytest.mark.parametrize("place", ["open", "_facts"])
def test_a_file_that_asks_for_too_much_memory_is_not_media(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """FFmpeg's error is a MemoryError of Python, too, which would count as an overrun of the process."""

    def greedy(*_: object, **__: object) -> None:
        raise av.error.MemoryError(12, "Cannot allocate memory", "file")

    film = _film(tmp_path / "a.mp4")
    monkeypatch.setattr(av if place == "open" else av_files, place, greedy)
    with pytest.raises(DataError, match="is not media that can be played: Cannot allocate memory"):
        av_files.read(film)


@pytest.mark.parametrize("name", ["a.mkv", "a.ts"])
def test_the_poster_of_a_file_that_does_not_start_at_zero(tmp_path: Path, name: str) -> None:
    film = _soon_blue(tmp_path / name, "-output_ts_offset", "100")
    with av.open(str(film)) as container:
        assert container.start_time is not None
        assert container.start_time >= 100_000_000
    assert _is_blue(av_files.read(film).poster)


def test_a_poster_costs_a_bounded_number_of_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    film = _soon_blue(tmp_path / "a.mp4")
    assert _is_blue(av_files.read(film).poster)
    monkeypatch.setattr(av_files, "_POSTER_PIXELS", 3 * 64 * 64)
    assert not _is_blue(av_files.read(film).poster)  # three frames were decoded, of the ten until its moment
    monkeypatch.setattr(images, "MAX_PIXELS", 64 * 64 - 1)
    found = av_files.read(film)
    assert (found.facts.width, found.poster) == (64, None)
    assert found.no_poster == "its frames have 4096 pixels; a poster may have 4095"


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(av_files, "import_module", missing)
    (tmp_path / "file").write_bytes(b"x" * 100)
    with pytest.raises(ConfigError) as caught:
        av_files.read(tmp_path / "file")
    assert str(caught.value) == "media need packages that are not installed: pip install 'forebay[media]'"


def test_a_video_without_frames() -> None:
    empty = SimpleNamespace(start_time=None, duration=0, decode=lambda _: iter(()))
    with pytest.raises(DataError, match="it has no frames"):
        av_files._poster(empty, SimpleNamespace(codec_context=SimpleNamespace(thread_count=0, width=1, height=1)))
