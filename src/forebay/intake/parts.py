"""The parts of an upload in the store, and how they are joined."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from forebay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.intake.db import FilePart, IntakeFile
    from forebay.storage import Store


def part_key(reference: int, name: str) -> str:
    """The key of a part in the store; its name is random and unique."""
    return f"uploads/{reference}/{name}"


async def joined(store: Store, file: IntakeFile, parts: Sequence[FilePart]) -> AsyncGenerator[bytes]:
    """The content of an upload, part by part.

    Raises: DataError if a part is missing or damaged.
    """
    if file.size is not None and sum(part.size for part in parts) != file.size:
        raise DataError(f"{file.name} is incomplete: send it again")
    for part in parts:
        digest = hashlib.sha256()
        async for chunk in await store.open(part_key(file.reference, part.name)):
            digest.update(chunk)
            yield chunk
        if part.sha256 is not None and digest.digest() != part.sha256:
            raise DataError(f"{file.name} was damaged in the store at byte {part.start}: send it again")
