"""Import what only sandboxed processes import, so that Python stores its bytecode.

Packages are installed without bytecode, and Python stores that of a module when it is first imported. Sandboxed
processes cannot: their view of the packages is read-only. Without this script each of them compiles what it imports,
which takes up to a second of CPU.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

MODULES = (
    "PIL.Image",
    "blurhash_rs",
    "chardet",
    "forebay.runner.serving",
    "htmldate",
    "onnxruntime",
    "pypdfium2",
    "rapidocr.main",
    "rapidocr.inference_engine.onnxruntime",
    "selectolax.lexbor",
    "tld",
    "trafilatura",
)


def main() -> None:
    """Import them; those of an extra that is not installed are left out."""
    for name in MODULES:
        with suppress(ImportError):
            import_module(name)
    with suppress(ImportError):
        import_module("PIL.Image").init()  # imports a module for each format


if __name__ == "__main__":
    main()
