"""Reads text in images with local models, which are part of their package: no network access.

Latin, Chinese and Japanese are supported and detected; Greek, Cyrillic, Arabic, Hebrew and Korean are not. To be run in
a limited process, which loads the models once and needs a gigabyte of memory.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError
from forebay.services.images import rgb

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SIDE = 1600  # pixels: larger images are shrunk
MIN_SIDE = 320  # smaller images are enlarged and get a margin
_ENLARGED = 3.0  # maximum factor
MAX_TEXT = 100_000
SURE = 0.5  # minimum confidence of a line

_MODELS = {"Det": "*_det_*.onnx", "Cls": "*_cls_*.onnx", "Rec": "*_rec_*.onnx"}
NEEDS = ("rapidocr", "onnxruntime", *(f"rapidocr/models/{pattern}" for pattern in _MODELS.values()))
MISSING = "reading text in images needs packages that are not installed: pip install 'forebay[ocr]'"


class OcrLine(BaseModel):
    """A line with its confidence and its corners in pixels."""

    model_config = ConfigDict(frozen=True)

    text: str
    confidence: float
    box: list[tuple[int, int]]


class OcrText(BaseModel):
    """The text of an image; lines in reading order."""

    model_config = ConfigDict(frozen=True)

    text: str
    lines: list[OcrLine]
    width: int
    height: int


def read_text(image: bytes | Path) -> OcrText:
    """Read the text in an image; a file is given by its path.

    Raises: DataError when the image cannot be read; ConfigError when packages are missing.
    """
    read = _engine()
    picture = rgb(image, MAX_SIDE)
    canvas, factor = _canvas(picture)
    # The models expect BGR.
    found = read(import_module("numpy").asarray(canvas)[:, :, ::-1])
    told = zip(found.txts, found.scores, found.boxes, strict=True) if found.txts else ()
    lines = [_line(text, score, box, factor) for text, score, box in told]
    text = "\n".join(line.text for line in lines)[:MAX_TEXT]
    return OcrText(text=text, lines=lines, width=picture.width, height=picture.height)


def _canvas(picture: Image) -> tuple[Image, float]:
    """An image that is large enough for the models, which would enlarge narrow ones without limit; and its scale."""
    from PIL import Image as pil  # noqa: N813, PLC0415 - an extra; a module, which is named like its class

    wanted = min(_ENLARGED, MIN_SIDE / min(picture.size))
    factor = max(1.0, min(wanted, MAX_SIDE / max(picture.size)))
    if factor > 1:
        picture = picture.resize((round(picture.width * factor), round(picture.height * factor)))
    canvas = pil.new("RGB", (max(picture.width, MIN_SIDE), max(picture.height, MIN_SIDE)), "white")
    canvas.paste(picture)
    return canvas, factor


def _line(text: str, score: float, box: Any, factor: float) -> OcrLine:
    corners = [(round(float(x) / factor), round(float(y) / factor)) for x, y in box]
    return OcrLine(text=text.strip(), confidence=round(float(score), 3), box=corners)


@cache
def _engine() -> Any:
    """Raises: ConfigError with the command that installs it, also when a model is missing, which it would download."""
    try:
        rapidocr: Any = import_module("rapidocr")
        import_module("onnxruntime")
    except ImportError as error:
        raise ConfigError(MISSING) from error
    models = Path(rapidocr.__file__).parent / "models"
    paths = {f"{part}.model_path": str(_model(models, pattern)) for part, pattern in _MODELS.items()}
    return rapidocr.RapidOCR(
        params={
            **paths,
            "Global.log_level": "error",
            "Global.max_side_len": MAX_SIDE,
            "Global.text_score": SURE,
            "Det.limit_side_len": MIN_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


def _model(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise ConfigError(f"rapidocr is installed without its models: {MISSING.rpartition(': ')[2]} --force-reinstall")
    return found[0]
