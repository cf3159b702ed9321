"""The settings of embeddings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from forebay.base_settings import SettingsBase


class EmbeddingSettings(SettingsBase):
    """A part of the general settings."""

    embedding_model: str = Field(
        default="all-MiniLM-L6-v2",
        description="model for searching by meaning: the one on this machine, or one of the service in "
        "FOREBAY_EMBEDDING_URL; empty: search by words only",
    )
    embedding_url: str = Field(
        default="",
        description="OpenAI-compatible service for embeddings, such as https://host/v1; may be on this machine",
    )
    embedding_key: SecretStr | None = Field(default=None, description="key for this service")
    embedding_dimensions: Annotated[int, Field(ge=1, le=4000)] = Field(
        default=1536, description="length of the vectors of this service's model"
    )
    embedding_max_tokens: Annotated[int, Field(ge=64, le=32_768)] = Field(
        default=512, description="longest piece of a text that is sent to this service as one"
    )
    embedding_threads: Annotated[int, Field(ge=1, le=256)] | None = Field(
        default=None, description="threads of the model on this machine; unset: one for each processor"
    )
