"""Generated speech whose words are known: two paragraphs of the voice en-gb of eSpeak NG, with a pause between them."""

from __future__ import annotations

import io
import re
from importlib import import_module
from pathlib import Path
from typing import Any

SPEECH = Path(__file__).parent / "samples/speech.ogg"
SECONDS = 18.374
PARAGRAPHS = (
    "The library opens at eight in the morning. Every visitor may borrow three books for two weeks.",
    "My sister bought a small house near the station last summer. We walked along the beach until the sun went down.",
)
SAID = " ".join(PARAGRAPHS)


def word_errors(said: str, heard: str) -> float:
    """The word error rate: insertions, deletions and substitutions by the number of words that were said."""
    expected, found = _words(said), _words(heard)
    costs = list(range(len(found) + 1))
    for row, word in enumerate(expected, 1):
        previous, costs = costs, [row]
        for column, other in enumerate(found, 1):
            costs.append(min(previous[column] + 1, costs[-1] + 1, previous[column - 1] + (word != other)))
    return costs[-1] / len(expected)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def encoded(parts: list[tuple[float, Any]], codec: str, container: str, rate: int = 16_000) -> bytes:
    """Audio as a file: each part begins at its time; what is between them does not exist in the file."""
    av: Any = import_module("av")
    target = io.BytesIO()
    with av.open(target, "w", format=container) as output:
        stream = output.add_stream(codec, rate=rate, layout="mono")
        for start, samples in parts:
            frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, round(start * rate)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return target.getvalue()
