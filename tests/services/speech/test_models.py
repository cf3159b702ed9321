"""Where the local model is looked for, and what is said about what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forebay.errors import ConfigError
from forebay.services.speech import models
from forebay.services.speech.models import find_model
from forebay.settings import Settings

INSTALL = "pip install 'forebay[speech]', or set FOREBAY_SPEECH_URL to use a service"


def _said(settings: Settings) -> str:
    with pytest.raises(ConfigError) as found:
        find_model(settings)
    return str(found.value)


def test_packages_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "PACKAGES", ("av", "no_such_package"))
    assert _said(Settings()) == f"transcribing speech needs packages that are not installed: {INSTALL}"


def test_no_model_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_WEIGHTS", "no_such_package")
    assert _said(Settings()) == (
        f"transcribing speech needs a model: {INSTALL}, or set FOREBAY_SPEECH_MODEL_DIR to the folder of a model"
    )


def test_a_folder_needs_every_file_that_would_be_downloaded_otherwise(tmp_path: Path) -> None:
    folder, settings = tmp_path / "small", Settings(speech_model_dir=tmp_path / "small")
    folder.mkdir()
    needed = ("model.bin", "config.json", "tokenizer.json")
    for name in needed:
        assert _said(settings) == (
            f"FOREBAY_SPEECH_MODEL_DIR has no {name} in {folder}: it must be the folder of a Whisper model for "
            "CTranslate2 with model.bin, config.json, tokenizer.json"
        )
        (folder / name).touch()
    (folder / "vocabulary.txt").touch()
    found = find_model(settings)
    assert (found.name, sorted(found.files)) == ("small", sorted([*needed, "vocabulary.txt"]))
