"""The benchmark of downloads measures what it can, and says what it cannot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench.groups import media


class _Context:
    """Keeps what is recorded and said."""

    def __init__(self) -> None:
        self.ours = object()
        self.sizes = SimpleNamespace(media_downloads=4)
        self.recorded: list[str] = []
        self.said: list[str] = []

    def record(self, name: str, ours: float, against: float, note: str = "") -> None:
        self.recorded.append(name)

    def say(self, line: str) -> None:
        self.said.append(line)


def test_memory_and_api_are_recorded_without_aria2c() -> None:
    context: Any = _Context()
    rounds = [media.Round(10.0, 2.0, 5.0, 4, (1.0, 2.0))]
    media._record(context, [], rounds, [1.0], media._Peak())
    assert context.recorded == ["media_memory", "media_api_p99"]
    media._record(context, [media.Round(9.0, 1.0)], rounds, [1.0], media._Peak())
    assert context.recorded[2:] == ["media_memory", "media_api_p99", "media_throughput"]


async def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_FFMPEG", "")
    context: Any = _Context()
    await media.run(context)
    (line,) = context.said
    assert line == "media_memory, media_api_p99 and media_throughput are not measured: ffmpeg is not installed"
