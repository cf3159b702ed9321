"""How often detection is right, on test data of other projects."""

import importlib
import os
from collections.abc import Iterable
from pathlib import Path

from bench.detection.score import Corpora, Measure, Score

SETS = ("prices", "gtins", "csv", "encodings", "pages")
__all__ = ["SETS", "Corpora", "Score", "default_corpora", "measure_all"]


def default_corpora() -> Corpora:
    """The cases of this project; BENCH_SOURCES names the folder with the files that belong to others."""
    sources = os.environ.get("BENCH_SOURCES")
    return Corpora(Path(__file__).resolve().parent.parent / "corpora", Path(sources) if sources else None)


def measure_all(corpora: Corpora, chosen: Iterable[str] = SETS) -> dict[str, list[Score]]:
    return {name: _measure(name)(corpora) for name in chosen}


def _measure(name: str) -> Measure:
    module = "tables" if name == "csv" else name  # a module called csv would hide that of Python
    measure: Measure = importlib.import_module(f"bench.detection.{module}").measure
    return measure
