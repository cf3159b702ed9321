"""Pictures of sheets where what reads them is missing."""

from __future__ import annotations

from typing import Any, cast

import pytest

from forebay import Context
from forebay.errors import ConfigError
from forebay.pipelines.sheets.steps import Image, SheetImage, examine
from forebay.services.images import inspect
from tests.corpus import making


class Blobs:
    async def read(self, _sha256: str) -> bytes:
        return making.png()


class Without:
    """A context of a machine on which text in pictures cannot be read."""

    async def get(self, _resource: Any) -> Blobs:
        return Blobs()

    async def call(self, function: Any, data: bytes) -> Any:
        if function.fn is inspect:
            return inspect(data)
        raise ConfigError("text in pictures cannot be read: pip install 'forebay[ocr]'")


async def test_a_picture_waits_for_what_reads_it_and_is_not_taken_for_one_without_text() -> None:
    image = Image.model_construct(name="pen.png", sha256="00" * 32)
    given = SheetImage.model_construct(line=1, image=image)
    with pytest.raises(ConfigError, match=r"forebay\[ocr\]"):
        await examine.fn(cast("Context", Without()), given)
