"""Embeddings of texts, in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from forebay.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.services.openai.client import OpenAiClient


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class Embeddings(BaseModel):
    data: list[_Embedding]


async def embed(
    client: OpenAiClient, texts: Sequence[str], *, batch: int = 64, dimensions: int | None = None
) -> AsyncGenerator[list[list[float]]]:
    """The vectors of the texts in order, a batch at a time, so that earlier batches are kept when a later one fails.

    Raises: what `OpenAiClient.post` raises; TransientError when vectors are missing or differ in length.
    """
    for start in range(0, len(texts), batch):
        question: dict[str, object] = {"input": list(texts[start : start + batch]), "encoding_format": "float"}
        if dimensions is not None:
            question["dimensions"] = dimensions
        answer = await client.post("embeddings", question, Embeddings)
        yield _ordered(client, answer, len(texts[start : start + batch]), dimensions)


def _ordered(client: OpenAiClient, answer: Embeddings, count: int, dimensions: int | None) -> list[list[float]]:
    by_index = {each.index: each.embedding for each in answer.data}
    lengths = {len(vector) for vector in by_index.values()}
    if set(by_index) != set(range(count)) or len(answer.data) != count:
        raise TransientError(f"the {client.service.name} answered {len(answer.data)} vectors for {count} texts")
    if len(lengths) != 1 or (dimensions is not None and lengths != {dimensions}):
        raise TransientError(f"the {client.service.name} answered vectors of the wrong length")
    return [by_index[index] for index in range(count)]
