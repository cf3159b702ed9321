"""Text in pictures, read in a process of a step."""

# demands: S2-76

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from forebay.engine.declare.limited import ProcessLimits
from forebay.errors import ConfigError
from forebay.services import ocr
from forebay.testing import testbed
from tests.services import steps
from tests.services._files import pdf, picture, png, saved, written


async def test_steps_look_into_files_in_processes_with_limits(dsn: str) -> None:
    uploads = {
        "text": steps.Upload(kind="ocr", data=written("Hello forebay 2026", "Zweite Zeile: 4711")),
        "nothing": steps.Upload(kind="ocr", data=saved(Image.new("RGB", (200, 200), "grey"), "PNG")),
        "small": steps.Upload(kind="ocr", data=written("tiny words", size=(90, 40), height=12)),
        "no image": steps.Upload(kind="ocr", data=b"hello"),
        "bomb": steps.Upload(kind="ocr", data=png(50_000, 50_000)),
        "narrow": steps.Upload(kind="ocr", data=saved(picture(size=(3000, 12)), "PNG")),
        "image": steps.Upload(kind="image", data=saved(picture(), "PNG")),
        "pdf": steps.Upload(kind="pdf", data=pdf("Hello")),
    }
    async with testbed(dsn, [steps.uploads], migrated=True) as bed:
        jobs = {name: await bed.submit(steps.uploads, upload) for name, upload in uploads.items()}
        await bed.finish()
        items = {name: await bed.item(job) for name, job in jobs.items()}
    failed = {name: item.error["class"] for name, item in items.items() if item.error is not None}
    assert failed == {"no image": "data", "bomb": "data"}
    found = {name: item.result["look"] for name, item in items.items() if item.error is None}
    assert found["text"]["text"].splitlines() == ["Hello forebay 2026", "Zweite Zeile: 4711"]
    first = found["text"]["lines"][0]
    assert first["confidence"] > 0.8
    assert all(0 <= x <= 640 and 0 <= y <= 120 for x, y in first["box"])
    assert (found["nothing"]["text"], found["nothing"]["lines"]) == ("", [])
    assert found["small"]["text"].replace(" ", "") == "tinywords"
    assert (found["small"]["width"], found["narrow"]["width"]) == (90, 1600)
    assert all(x <= 95 for line in found["small"]["lines"] for x, _ in line["box"])
    assert (found["image"]["width"], found["pdf"]["pages"]) == (120, 1)


_MISSING = """
import sys
sys.modules["rapidocr"] = None
from forebay.errors import ConfigError
from forebay.services import ocr
try:
    ocr.read_text(b"x")
except ConfigError as error:
    print(error)
"""


def test_without_the_packages_the_command_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", _MISSING], capture_output=True, text=True, check=True)
    told = "reading text in images needs packages that are not installed: pip install 'forebay[ocr]'\n"
    assert done.stdout == told


def test_the_worker_sees_itself_whether_models_are_missing() -> None:
    assert not ProcessLimits(needs=ocr.NEEDS).lacks_needs
    assert len([need for need in ocr.NEEDS if need.startswith("rapidocr/models/")]) == 3


def test_models_are_never_fetched(tmp_path: Path) -> None:
    told = r"^rapidocr is installed without its models: pip install 'forebay\[ocr\]' --force-reinstall$"
    with pytest.raises(ConfigError, match=told):
        ocr._model(tmp_path, "*_det_*.onnx")
