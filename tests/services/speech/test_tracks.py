"""Subtitles inside a file: those of what is said are found, whatever they are called."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from forebay.errors import DataError
from forebay.services import av_files
from forebay.services.speech.subtitles import tracks
from forebay.services.speech.subtitles.tracks import read_track
from tests.pipelines.media._samples import needs_ffmpeg

pytestmark = needs_ffmpeg

_SRT = (
    "1\n00:00:00,100 --> 00:00:00,700\n{{\\an8}}{0} <i>are</i> said.\n\n2\n00:00:00,800 --> 00:00:01,000\nTwo\nlines.\n"
)


def _made(folder: Path, name: str, codec: str, *tracks: tuple[str, str], spoken: str = "und") -> Path:
    """A tone with subtitles: the word in each, and its language or disposition."""
    inputs, maps = ["-f", "lavfi", "-i", "sine=duration=1"], ["-map", "0"]
    given = ["-metadata:s:a:0", f"language={spoken}"]
    for number, (word, about) in enumerate(tracks):
        (folder / f"{number}.srt").write_text(_SRT.format(word))
        inputs += ["-i", str(folder / f"{number}.srt")]
        maps += ["-map", str(number + 1)]
        is_language = len(about) == 3
        given += [f"-metadata:s:s:{number}" if is_language else f"-disposition:s:{number}"]
        given += [f"language={about}" if is_language else about]
    path = folder / name
    subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-y", *inputs, *maps, "-c:a", "aac", "-c:s", codec, *given, str(path)],
        check=True,
    )
    return path


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "mov_text"), ("a.mkv", "srt"), ("a.mkv", "ass")])
def test_text_without_its_styles(tmp_path: Path, name: str, codec: str) -> None:
    found = read_track(_made(tmp_path, name, codec, ("Words", "eng")), None)
    assert found is not None
    assert found.text == "Words are said.\nTwo\nlines."
    times = [time for each in found.segments for time in (each.start, each.end)]
    assert times == pytest.approx([0.1, 0.7, 0.8, 1.0], abs=0.05)


def test_translations_are_not_what_is_said(tmp_path: Path) -> None:
    both = (("Worte", "ger"), ("Words", "eng"))
    film = _made(tmp_path, "a.mp4", "mov_text", *both, spoken="eng")
    found = read_track(film, None)
    assert found is not None
    assert (found.language, found.text[:5]) == ("en", "Words")
    german = read_track(film, "de-AT")
    assert german is not None
    assert (german.language, german.text[:5]) == ("de", "Worte")
    assert read_track(film, "fr") is None


def test_captions_of_foreign_words_are_not_what_is_said(tmp_path: Path) -> None:
    assert read_track(_made(tmp_path, "a.mkv", "srt", ("Few", "forced")), "en") is None
    found = read_track(_made(tmp_path, "b.mkv", "srt", ("Few", "forced"), ("All", "default")), "en")
    assert found is not None
    assert found.text[:3] == "All"


def test_a_file_without_subtitles(tmp_path: Path) -> None:
    assert read_track(_made(tmp_path, "a.mp4", "mov_text"), "en") is None


@pytest.mark.parametrize(("limit", "most"), [("MAX_SEGMENTS", 1), ("MAX_BYTES", len("Words are said.Two"))])
def test_subtitles_are_read_up_to_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    film = _made(tmp_path, "a.mkv", "srt", ("Words", "eng"))
    monkeypatch.setattr(tracks, limit, most)
    with av_files.opened(film) as container:
        (track,) = av_files.text_tracks(container)
        packets = container.demux(track)
        found = tracks._segments(SimpleNamespace(demux=lambda _: packets), track)
        assert [each.text for each in found] == ["Words are said."]
        assert len(list(packets)) == 1  # the one that ends the file was not read: the second is beyond the limit


def test_subtitles_that_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object) -> None:
        raise ValueError("Invalid data")

    film = _made(tmp_path, "a.mp4", "mov_text", ("Words", "eng"))
    monkeypatch.setattr(tracks, "_segments", damaged)
    with pytest.raises(DataError, match="the subtitles of the file cannot be read: "):
        read_track(film, None)
