"""Embeddings of an OpenAI-compatible service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import ConfigError
from forebay.services.openai.client import OpenAiClient
from forebay.services.openai.embeddings import embed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from forebay.services.egress import Http
    from forebay.services.openai.service import Service

_TOKEN_CHARACTERS = 3  # a cautious estimate: English has more than four
_BATCH = 64


class RemoteModel:
    """A model of a service; `name` is that of the model, with the host of the service."""

    def __init__(self, http: Http, service: Service, *, dimensions: int, max_tokens: int) -> None:
        self.name = f"{service.model} of {service.origin.host}"
        self.dimensions, self.max_tokens = dimensions, max_tokens
        self._client = OpenAiClient(http, service, "embeddings")

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [-(-len(text) // _TOKEN_CHARACTERS) for text in texts]

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415 - an extra

        rows = [row async for batch in embed(self._client, texts, batch=_BATCH) for row in batch]
        if any(len(row) != self.dimensions for row in rows):
            raise ConfigError(
                f"the model {self.name} answers vectors of {len(rows[0])} numbers: set FOREBAY_EMBEDDING_DIMENSIONS"
            )
        vectors = np.array(rows, np.float32).reshape(len(rows), self.dimensions)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        normal: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
        return normal
