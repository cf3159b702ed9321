"""The settings of speech to text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from forebay.base_settings import SettingsBase


class SpeechSettings(SettingsBase):
    """A part of the general settings."""

    speech_model_dir: Path | None = Field(
        default=None,
        description="folder of a Whisper model for CTranslate2, for other languages or more accuracy; unset: the model "
        "of the extra `speech`, for English",
    )
    speech_language: Annotated[str, Field(pattern=r"^([a-z]{2,3})?$")] = Field(
        default="", description="language of all recordings, such as `de`; empty: it is detected"
    )
    speech_device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="where the local model runs; auto: on the GPU if there is one"
    )
    speech_threads: Annotated[int, Field(ge=0, le=256)] = Field(
        default=0, description="threads of the local model; 0: as many as there are processors"
    )
    speech_memory_mb: Annotated[int, Field(ge=512)] = Field(
        default=1536, description="memory that the process of the local model may use, in MB; large models need more"
    )
    speech_piece_s: Annotated[float, Field(ge=1, le=1800)] = Field(
        default=600.0,
        description="seconds of a recording that are transcribed at a time; after a crash, the next piece is continued "
        "with; a service gets at most 120",
    )
    speech_max_s: Annotated[float, Field(ge=1)] = Field(
        default=12 * 3600.0, description="longest recording that is transcribed, in seconds"
    )
    speech_url: str = Field(
        default="",
        description="OpenAI-compatible service that transcribes speech, such as https://host/v1; may be on this "
        "machine; empty: the local model does it",
    )
    speech_model: str = Field(default="", description="model of this service")
    speech_key: SecretStr | None = Field(default=None, description="key for this service")
