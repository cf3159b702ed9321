"""Transcribes pieces of recordings with a local model. To be run in limited processes, which load the model once.

`transcribe_piece` does everything in one process. On a GPU, which a sandbox does not see, and with a service, the file
is decoded in a sandbox (`read_piece`), and only plain samples leave it.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError
from forebay.runner import progress
from forebay.services.speech.audio import RATE, AudioReader
from forebay.services.speech.transcript import Piece, Segment, Word

if TYPE_CHECKING:
    from collections.abc import Mapping

Device = Literal["cpu", "cuda", "auto"]


class PieceRequest(BaseModel):
    """Which piece to read: from `start_ms`, where the previous one ended, up to `seconds`."""

    model_config = ConfigDict(frozen=True)

    start_ms: int = 0
    seconds: float = 600.0
    max_s: float = 12 * 3600.0  # of the whole recording


class Options(BaseModel):
    """How to transcribe; an empty language is detected, and 0 threads are as many as there are processors."""

    model_config = ConfigDict(frozen=True)

    language: str = ""
    threads: int = 0
    device: Device = "cpu"


class AudioPiece(BaseModel):
    """The samples of a piece: 16-bit, little-endian, mono, 16 kHz. `total_s` is an estimate."""

    model_config = ConfigDict(frozen=True)

    start_ms: int
    end_ms: int
    is_last: bool
    samples: bytes
    total_s: float


def shown_progress(done_s: float, total_s: float) -> tuple[float, str]:
    """The fraction, and a note with the seconds of the recording."""
    total = max(done_s, total_s, 0.001)
    return done_s / total, f"{done_s:.0f} of {total:.0f} s"


def transcribe_piece(recording: Path, model: Mapping[str, Path | str], wanted: PieceRequest, options: Options) -> Piece:
    """Decode a piece and transcribe it.

    Raises: DataError if the recording cannot be read or is too long.
    """
    engine = _engine(model, options)  # first: without it, nothing else is needed
    samples, piece = _read(recording, wanted)
    return _recognised(engine, samples, piece, options)


def read_piece(recording: Path, wanted: PieceRequest) -> AudioPiece:
    """Decode a piece only.

    Raises: DataError if the recording cannot be read or is too long.
    """
    samples, piece = _read(recording, wanted)
    return piece.model_copy(update={"samples": samples.astype("<i2").tobytes()})


def recognise(piece: AudioPiece, model: Mapping[str, Path | str], options: Options) -> Piece:
    """Transcribe a piece that another process has decoded.

    Raises: ConfigError if there is no GPU, and one is demanded.
    """
    samples = import_module("numpy").frombuffer(piece.samples, dtype="<i2")
    return _recognised(_engine(model, options), samples, piece, options)


# -- audio ----------------------------------------------------------------------------------------------------


class _Opened(NamedTuple):
    key: tuple[object, ...]
    reader: AudioReader


_opened: list[_Opened] = []  # the recording of the last call, at the end of its piece


def _read(recording: Path, wanted: PieceRequest) -> tuple[Any, AudioPiece]:
    reader = _reader_at(recording, wanted.start_ms)
    stated = reader.duration_s or 0.0
    if max(stated, wanted.start_ms / 1000) > wanted.max_s:
        raise DataError(f"the recording is longer than {wanted.max_s:g} s (FOREBAY_SPEECH_MAX_S)")
    samples, is_last = reader.read(wanted.seconds)
    end_ms = -(-reader.position * 1000 // RATE)
    if is_last:
        _close()
    total = max(stated, end_ms / 1000)
    return samples, AudioPiece(
        start_ms=wanted.start_ms,
        end_ms=end_ms,
        is_last=is_last,
        samples=b"",
        total_s=end_ms / 1000 if is_last else total,
    )


def _reader_at(recording: Path, start_ms: int) -> AudioReader:
    """A reader at this place: that of the previous piece, or a new one, which decodes the recording up to it."""
    status = recording.stat()
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    start = start_ms * RATE // 1000
    if _opened and _opened[0].key == key and _opened[0].reader.position == start:
        return _opened[0].reader
    _close()
    reader = AudioReader(recording)
    _opened.append(_Opened(key, reader))
    reader.skip(start)
    return reader


def _close() -> None:
    while _opened:
        _opened.pop().reader.close()


# -- the model ------------------------------------------------------------------------------------------------


def _engine(model: Mapping[str, Path | str], options: Options) -> Any:
    statuses = {name: os.stat(path) for name, path in model.items()}  # noqa: PTH116 - texts and paths
    known = tuple(sorted((name, each.st_size, each.st_mtime_ns) for name, each in statuses.items()))
    return _loaded(_Files(known, model), options.device, options.threads or len(os.sched_getaffinity(0)))


class _Files:
    """The files of a model, which has been loaded if one with the same sizes and times has."""

    def __init__(self, known: tuple[object, ...], paths: Mapping[str, Path | str]) -> None:
        self._known, self.paths = known, paths

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Files) and other._known == self._known

    def __hash__(self) -> int:
        return hash(self._known)


@lru_cache(maxsize=1)
def _loaded(files: _Files, device: Device, threads: int) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"  # where there is no sandbox
    whisper: Any = import_module("faster_whisper")
    on_gpu = device != "cpu" and import_module("ctranslate2").get_cuda_device_count() > 0
    if device == "cuda" and not on_gpu:
        raise ConfigError("FOREBAY_SPEECH_DEVICE=cuda, but there is no GPU that CTranslate2 can use")
    with tempfile.TemporaryDirectory() as folder:  # under their names, which they do not have here
        for name, path in files.paths.items():
            Path(folder, name).symlink_to(path)
        return whisper.WhisperModel(
            folder,
            device="cuda" if on_gpu else "cpu",
            compute_type="float16" if on_gpu else "int8",
            cpu_threads=threads,
            local_files_only=True,
        )


def _recognised(engine: Any, samples: Any, piece: AudioPiece, options: Options) -> Piece:
    offset = piece.start_ms / 1000
    found: list[Segment] = []
    _report(offset, piece.total_s)
    language = None
    if len(samples):
        segments, about = engine.transcribe(
            samples.astype("float32") / 32768.0,
            language=(options.language or None) if engine.model.is_multilingual else "en",
            word_timestamps=True,
            vad_filter=True,  # in silence and noise, models invent words
            condition_on_previous_text=False,  # nor are errors repeated
        )
        language = about.language
        for each in segments:
            found += _segment(each, offset)
            _report(offset + each.end, piece.total_s)
    _report(piece.end_ms / 1000, piece.total_s)
    return Piece(
        start_ms=piece.start_ms,
        end_ms=piece.end_ms,
        is_last=piece.is_last,
        segments=tuple(found),
        language=language if found else None,
    )


def _segment(found: Any, offset: float) -> list[Segment]:
    text = found.text.strip()
    words = [
        Word(start=_moved(word.start, offset), end=_moved(word.end, offset), text=word.word.strip())
        for word in found.words or ()
        if word.word.strip()
    ]
    if not text:
        return []
    return [Segment(start=_moved(found.start, offset), end=_moved(found.end, offset), text=text, words=tuple(words))]


def _moved(seconds: float, offset: float) -> float:
    return round(offset + float(seconds), 3)


def _report(done_s: float, total_s: float) -> None:
    progress.report(*shown_progress(done_s, total_s))
