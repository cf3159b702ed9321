"""Functions on images that pipelines share. Each is declared once: a worker has one process pool per declaration."""

from __future__ import annotations

from forebay.engine.declare.limited import limited
from forebay.services import images, ocr

INSPECT_IMAGE = limited(images.inspect, memory_mb=512, timeout=30, needs=images.PACKAGES)
READ_IMAGE_TEXT = limited(ocr.read_text, memory_mb=1536, timeout=120, needs=ocr.NEEDS)
