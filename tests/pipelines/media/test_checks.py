"""What `forebay doctor` says about media."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.pipelines.media.checks import check
from forebay.pipelines.media.settings import MediaSettings
from forebay.settings import Settings


@pytest.mark.parametrize(
    ("installed", "expected"),
    [("ffmpeg", ("OK", "installed")), ("ffprobe", ("WARN", "not installed: downloads wait"))],
)
async def test_ffmpeg_is_the_only_program_that_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: str, expected: tuple[str, str]
) -> None:
    (tmp_path / installed).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {each.about: each for each in await check(Settings(data_dir=tmp_path).including(MediaSettings()))}
    found = findings["ffmpeg"]
    assert (found.level, found.text) == expected
