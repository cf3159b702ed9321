"""Decodes the audio of a recording piece by piece: 16-bit samples, mono, at the rate that the models expect.

Times are those of the recording: where its audio begins late or has gaps, there is silence. To be run in a limited
process.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from forebay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RATE = 16_000
_FRAME = 320  # samples; pieces end at a multiple of it, which is 20 ms
_QUIET_FRAMES = 15  # a pause between words
_BLOCK = 10 * RATE  # samples of silence in one array
_GAP_S = 0.2  # smaller differences between timestamps are inaccuracies
_MAX_GAPS_S = 6 * 3600.0  # all together
_MAX_INVALID = 1000  # frames
# No other file is opened: playlists and the like could name any.
_OPTIONS = {"protocol_whitelist": "none"}


class AudioReader:
    """Reads one recording from its start to its end."""

    def __init__(self, path: Path) -> None:
        """Raises: DataError if the file cannot be read."""
        self._np: Any = import_module("numpy")
        self._av: Any = import_module("av")
        self._file = path.open("rb")
        try:
            self._container = self._av.open(self._file, metadata_errors="ignore", options=_OPTIONS)
        except (self._av.FFmpegError, OSError, ValueError) as error:
            self._file.close()
            raise DataError(f"the recording cannot be read: {_reason(error)}") from error
        self._stream = next(iter(self._container.streams.audio), None)
        self._chunks = self._decoded()
        self._waiting: list[Any] = []  # arrays that are decoded and not yet read
        self.position = 0  # samples that were read

    @property
    def duration_s(self) -> float | None:
        """As the file says, which may be wrong."""
        stated = self._container.duration
        return stated / 1_000_000 if stated else None

    def close(self) -> None:
        self._container.close()
        self._file.close()

    def skip(self, samples: int) -> None:
        """Read and drop samples. Seeking is faster, but in many formats it does not lead to the exact place."""
        while self.position < samples and (chunk := self._next()) is not None:
            left = samples - self.position
            if len(chunk) > left:
                self._waiting.insert(0, chunk[left:])
            self.position += min(len(chunk), left)

    def read(self, seconds: float) -> tuple[Any, bool]:
        """The samples of the next piece, of at most so many seconds, and whether it is the last."""
        wanted = max(_FRAME, int(seconds * RATE) // _FRAME * _FRAME)
        found: list[Any] = []
        size = 0
        while size <= wanted and (chunk := self._next()) is not None:  # one sample more, to know whether it is the last
            found.append(chunk)
            size += len(chunk)
        samples = self._np.concatenate(found) if found else self._np.zeros(0, dtype=self._np.int16)
        is_last = size <= wanted
        if not is_last:
            cut = self._quiet_place(samples[:wanted])
            self._waiting.insert(0, samples[cut:])
            samples = samples[:cut]
        self.position += len(samples)
        return samples, is_last

    def _quiet_place(self, samples: Any) -> int:
        """The middle of the quietest moment in the last quarter; of several, the last."""
        first = len(samples) // _FRAME * 3 // 4 * _FRAME
        frames = samples[first:].reshape(-1, _FRAME).astype(self._np.float32)
        energy = (frames * frames).mean(axis=1)
        if len(energy) <= _QUIET_FRAMES:
            return len(samples)
        windows = self._np.convolve(energy, self._np.ones(_QUIET_FRAMES), mode="valid")
        quietest = len(windows) - 1 - int(self._np.argmin(windows[::-1]))
        return first + (quietest + _QUIET_FRAMES // 2 + 1) * _FRAME

    def _next(self) -> Any | None:
        return self._waiting.pop(0) if self._waiting else next(self._chunks, None)

    def _decoded(self) -> Iterator[Any]:
        """Arrays of samples in order; none if the recording has no audio."""
        if self._stream is None:
            return
        resampler, known = None, None
        ends = (self._container.start_time or 0) / 1_000_000
        gaps = 0.0
        for frame in self._frames():
            at = frame.time
            if at is not None and at - ends > _GAP_S and gaps + at - ends <= _MAX_GAPS_S:
                yield from self._silence(round((at - ends) * RATE))
                gaps += at - ends
                ends = at
            ends += frame.samples / frame.sample_rate
            form = (frame.format.name, frame.layout.name, frame.sample_rate)
            if form != known:  # some recordings change it
                yield from self._arrays(resampler, None)
                resampler, known = self._av.AudioResampler(format="s16", layout="mono", rate=RATE), form
            frame.pts = None
            yield from self._arrays(resampler, frame)
        yield from self._arrays(resampler, None)

    def _silence(self, samples: int) -> Iterator[Any]:
        for start in range(0, samples, _BLOCK):
            yield self._np.zeros(min(_BLOCK, samples - start), dtype=self._np.int16)

    def _arrays(self, resampler: Any, frame: Any) -> Iterator[Any]:
        """Resample a frame; None: return what the resampler still has."""
        for each in resampler.resample(frame) if resampler is not None else ():
            yield each.to_ndarray()[0]

    def _frames(self) -> Iterator[Any]:
        """The frames that can be decoded; players skip the others, too.

        Raises: DataError if too many cannot be decoded.
        """
        invalid = 0
        try:
            for packet in self._container.demux(self._stream):
                try:
                    yield from packet.decode()
                except self._av.error.InvalidDataError:
                    invalid += 1
                    if invalid > _MAX_INVALID:
                        raise
        except EOFError:
            return
        except (self._av.FFmpegError, OSError) as error:
            raise DataError(f"the audio cannot be decoded: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    """Without the name of the file, which is a temporary one."""
    return str(getattr(error, "strerror", None) or error)[:200]
