"""Recordings are decoded piece by piece, in order and completely, with the times of the recording."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import DataError
from forebay.services.speech import recognition
from forebay.services.speech.audio import RATE, AudioReader
from forebay.services.speech.recognition import PieceRequest, read_piece
from tests.services.speech._speech import SECONDS, SPEECH, encoded

np: Any = import_module("numpy")


def _whole(path: Path) -> Any:
    reader = AudioReader(path)
    samples, is_last = reader.read(3600)
    assert is_last
    reader.close()
    return samples


def _tone(seconds: float, hertz: float = 440.0) -> Any:
    return (8000 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE)).astype(np.int16)


def test_pieces_are_the_whole_and_end_in_silence() -> None:
    whole = _whole(SPEECH)
    assert len(whole) / RATE == pytest.approx(SECONDS, abs=0.02)
    reader = AudioReader(SPEECH)
    first, is_last = reader.read(10)
    assert not is_last
    assert 7.3 < len(first) / RATE < 9.3  # the pause between the paragraphs, which is in the last quarter of ten seconds
    rest, is_last = reader.read(3600)
    assert is_last
    reader.close()
    assert np.array_equal(np.concatenate([first, rest]), whole)


@pytest.mark.parametrize("seconds", [0.01, 1.0, 5.0])
def test_nothing_is_lost_or_repeated_at_any_length(seconds: float, tmp_path: Path) -> None:
    file = tmp_path / "tone.wav"
    file.write_bytes(encoded([(0, _tone(1.505))], "pcm_s16le", "wav"))
    reader = AudioReader(file)
    pieces: list[Any] = []
    is_last = False
    while not is_last:
        samples, is_last = reader.read(seconds)
        pieces.append(samples)
    assert np.array_equal(np.concatenate(pieces), _tone(1.505))
    assert all(len(piece) <= max(320, seconds * RATE) for piece in pieces)
    assert reader.position == len(_tone(1.505))


def test_a_piece_is_the_same_whether_the_process_is_new_or_not() -> None:
    first = read_piece(SPEECH, PieceRequest(seconds=5))
    continued = read_piece(SPEECH, PieceRequest(start_ms=first.end_ms, seconds=5))
    recognition._close()
    assert first.end_ms % 20 == 0
    assert read_piece(SPEECH, PieceRequest(start_ms=first.end_ms, seconds=5)) == continued
    beyond = read_piece(SPEECH, PieceRequest(start_ms=60_000))
    assert (beyond.samples, beyond.is_last) == (b"", True)


def test_gaps_and_late_starts_are_silence(tmp_path: Path) -> None:
    file = tmp_path / "gap.mka"
    file.write_bytes(encoded([(0, _tone(0.5)), (2.0, _tone(0.5))], "pcm_s16le", "matroska"))
    samples = _whole(file)
    assert len(samples) == pytest.approx(2.5 * RATE, abs=RATE // 50)
    assert not samples[int(0.6 * RATE) : int(1.9 * RATE)].any()
    assert samples[int(2.1 * RATE) : int(2.4 * RATE)].any()


def test_damaged_frames_are_skipped(tmp_path: Path) -> None:
    data = bytearray(encoded([(0, _tone(4.0, 200))], "flac", "flac"))
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    file = tmp_path / "damaged.flac"
    file.write_bytes(data)
    assert len(_whole(file)) > 2 * RATE


def test_what_is_no_recording_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "text.mp3"
    file.write_bytes(b"no recording " * 100)
    with pytest.raises(DataError, match=r"^the recording cannot be read: Invalid data"):
        AudioReader(file)
    file.write_bytes(b"")
    with pytest.raises(DataError, match=r"^the recording cannot be read: "):
        AudioReader(file)


def test_a_playlist_opens_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.wav").write_bytes(encoded([(0, _tone(1.0))], "pcm_s16le", "wav"))
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:1", "#EXTINF:1,", f"file://{tmp_path}/secret.wav", "#EXT-X-ENDLIST"]
    listed = tmp_path / "list.m3u8"
    listed.write_text("\n".join(lines))
    joined = tmp_path / "joined.txt"
    joined.write_text(f"ffconcat version 1.0\nfile '{tmp_path}/secret.wav'\n")
    for file in (listed, joined):
        with pytest.raises(DataError, match=r"^(the recording cannot be read|the audio cannot be decoded): "):
            _whole(file)


def test_a_recording_without_audio_has_one_empty_piece(tmp_path: Path) -> None:
    av: Any = import_module("av")
    file = tmp_path / "silent.mkv"
    with av.open(str(file), "w") as output:
        stream = output.add_stream("mpeg4", rate=10, width=32, height=32)
        for _ in range(5):
            output.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")))
        output.mux(stream.encode(None))
    piece = read_piece(file, PieceRequest())
    assert (piece.samples, piece.end_ms, piece.is_last) == (b"", 0, True)


def test_a_recording_may_be_too_long() -> None:
    with pytest.raises(DataError, match=r"^the recording is longer than 10 s \(FOREBAY_SPEECH_MAX_S\)$"):
        read_piece(SPEECH, PieceRequest(max_s=10))
