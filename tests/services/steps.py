"""Process steps that look into files, as pipelines have them."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from pydantic import BaseModel

from forebay import Context, Pipeline
from forebay.services import images, ocr, pdf


class Upload(BaseModel):
    kind: str
    data: bytes

    model_config = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}


uploads: Pipeline[Upload] = Pipeline("uploads", Upload)


@uploads.step(kind="process", memory_mb=1500, timeout=120)
def look(ctx: Context, upload: Upload) -> dict[str, Any]:
    if upload.kind == "ocr":
        return ocr.read_text(upload.data).model_dump()
    if upload.kind == "pdf":
        with NamedTemporaryFile() as file:
            file.write(upload.data)
            file.flush()
            return pdf.first_page(Path(file.name), 100).model_dump(exclude={"image"})
    return images.inspect(upload.data).model_dump()
