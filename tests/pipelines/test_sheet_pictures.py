"""Pictures of sheets where what reads them is missing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from forebay import Context
from forebay.errors import ConfigError
from forebay.pipelines.sheets.steps import ImageRef, SheetImage, examine
from forebay.services.images import inspect
from tests.corpus import making


class Blobs:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "picture"
        self._path.write_bytes(making.png())

    @asynccontextmanager
    async def local(self, _sha256: str) -> AsyncIterator[Path]:
        yield self._path


class Without:
    """A context of a machine on which text in pictures cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._blobs = Blobs(folder)

    async def get(self, _resource: Any) -> Blobs:
        return self._blobs

    async def call(self, function: Any, path: Path) -> Any:
        if function.fn is inspect:
            return inspect(path)
        raise ConfigError("text in pictures cannot be read: pip install 'forebay[ocr]'")


async def test_a_picture_waits_for_what_reads_it_and_is_not_taken_for_one_without_text(tmp_path: Path) -> None:
    image = ImageRef.model_construct(name="pen.png", sha256="00" * 32)
    given = SheetImage.model_construct(line=1, image=image)
    with pytest.raises(ConfigError, match=r"forebay\[ocr\]"):
        await examine.fn(cast("Context", Without(tmp_path)), given)
