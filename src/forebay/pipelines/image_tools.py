"""Functions on images that pipelines share. Each is declared once: a worker has one process pool per declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from forebay.engine.declare.limited import limited
from forebay.services import images, ocr
from forebay.storage import db as files

if TYPE_CHECKING:
    from forebay.storage import Blobs
    from forebay.types import Statement

INSPECT_IMAGE = limited(images.inspect, memory_mb=512, timeout=30, needs=images.PACKAGES)
READ_PICTURE = limited(images.picture, memory_mb=512, timeout=30, needs=images.PACKAGES)
READ_IMAGE_TEXT = limited(ocr.read_text, memory_mb=1536, timeout=120, needs=ocr.NEEDS)


class StoredPicture(Protocol):
    """A file of an owner that was stored."""

    @property
    def file_id(self) -> int: ...
    @property
    def owner_id(self) -> int: ...


async def store_thumbnails(blobs: Blobs, of: StoredPicture, picture: images.Picture) -> Statement:
    """Store the thumbnails of a picture; the statement adds them after the row of its file."""
    stored = [
        await blobs.put(data, owner_id=of.owner_id, name="thumbnail.webp", media_type="image/webp")
        for _, data in picture.thumbnails
    ]
    facts, widths = picture.facts, [width for width, _ in picture.thumbnails]
    known = files.PictureRow(of.file_id, facts.width, facts.height, facts.blurhash, widths)
    return files.write_picture(known, of.owner_id, [(each.file_id, bytes.fromhex(each.sha256)) for each in stored])
