"""The modules that sandboxed processes import have bytecode after `scripts/store_bytecode.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The modules that a worker imports, and those that the script adds.
STORED = """
import forebay.engine.work.worker
import forebay.pipelines.bookmarks.steps, forebay.pipelines.sheets.intake, forebay.pipelines.sheets.steps
import store_bytecode
store_bytecode.main()
"""

# The functions that run in sandboxed processes, each on a small file.
USED = """
import io
from pathlib import Path
from PIL import Image
from pypdfium2 import PdfDocument
from forebay.runner import child, serving
from forebay.services import images, ocr, pages, pdf
from forebay.services.encodings.ranking import guess_codec

picture = io.BytesIO()
Image.new("RGB", (64, 64), "white").save(picture, "PNG")
images.inspect(picture.getvalue())
images.jpeg(picture.getvalue(), 32)
ocr.read_text(picture.getvalue())
text = b"<p>" + b"Water falls onto the wheel since 3 March 2024. " * 40
pages.read_page(b"<html><title>The mill</title><body>" + text, "http://example.com/mill", None, 200)
with PdfDocument.new() as document:
    document.new_page(100, 100)
    document.save("one.pdf")
pdf.first_page(Path("one.pdf"))
guess_codec("naïve café, été".encode("cp1252") * 9)
"""

TOLD = """
import sys
print(*sorted(name for name, module in list(sys.modules.items())
              if (getattr(module, "__cached__", None) or "").startswith((sys.prefix, SOURCE))))
"""


def imported(code: str, folder: Path) -> set[str]:
    """The modules of packages that a program has imported when it ends."""
    source = f"SOURCE = {str(ROOT / 'src')!r}\n"
    command = [sys.executable, "-c", code + source + TOLD]
    env = {"PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT / 'src'}"}
    return set(subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout.split())


def test_nothing_is_left_to_compile_in_a_sandbox(tmp_path: Path) -> None:
    used = imported(USED, tmp_path)
    assert {"PIL.Image", "cv2", "rapidocr", "htmldate", "trafilatura", "chardet"} <= used
    assert used - imported(STORED, tmp_path) == set()
