"""Embeddings: vectors of texts, by a model on this machine or by a service.

open_model(settings, http) ──► LocalModel    all-MiniLM-L6-v2 on onnxruntime, from the weights of a package
                          └──► RemoteModel   an OpenAI-compatible service: FOREBAY_EMBEDDING_URL
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.embeddings.model_file import NAME, weights_folder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from forebay.services.egress import Http
    from forebay.services.embeddings.model import Model
    from forebay.services.openai.service import Service
    from forebay.settings import Settings

OFF = "searching by meaning is off: FOREBAY_EMBEDDING_MODEL is empty"


def embedding_service(settings: Settings) -> Service | None:
    """The configured service; None: the model on this machine.

    Raises: ConfigError when the settings are incomplete.
    """
    from forebay.services.openai.service import read_service  # noqa: PLC0415 - an extra

    return read_service(
        "embedding service",
        "FOREBAY_EMBEDDING",
        settings.embedding_url,
        settings.embedding_model if settings.embedding_model != NAME else "",
        settings.embedding_key,
    )


def is_on(settings: Settings) -> bool:
    return bool(settings.embedding_model)


def check_model(settings: Settings) -> str:
    """The name of the configured model; opens nothing.

    Raises: ConfigError when it cannot be used, with what to do about it.
    """
    if settings.embedding_url:
        service = embedding_service(settings)
        return f"{service.model} of {service.origin.host}" if service is not None else ""
    if settings.embedding_model != NAME:
        raise ConfigError(
            f"FOREBAY_EMBEDDING_MODEL is {settings.embedding_model!r}, but this machine has only {NAME}: set "
            "FOREBAY_EMBEDDING_URL to the service that has it"
        )
    weights_folder()
    return NAME


@asynccontextmanager
async def open_model(
    settings: Settings, http: Callable[[], Awaitable[Http]], *, niceness: int = 0
) -> AsyncGenerator[Model]:
    """The configured model; `http` is called for a service only, `niceness` is for a model on this machine.

    Raises: ConfigError.
    """
    check_model(settings)
    service = embedding_service(settings) if settings.embedding_url else None
    if service is not None:
        from forebay.services.embeddings.remote import RemoteModel  # noqa: PLC0415 - an extra

        size, longest = settings.embedding_dimensions, settings.embedding_max_tokens
        yield RemoteModel(await http(), service, dimensions=size, max_tokens=longest)
        return
    from forebay.services.embeddings.local import open_local  # noqa: PLC0415 - an extra

    opening = partial(open_local, settings.data_dir / "models", settings.embedding_threads, niceness=niceness)
    model = await asyncio.to_thread(opening)
    try:
        yield model
    finally:
        await asyncio.to_thread(model.close)
