"""Numbers of trade items of python-stdnum's and zyte-parsers' tests."""

import json
from typing import Any

from bench.detection.score import Corpora, Score
from forebay.services.products.gtins import read_gtin, same_gtin
from forebay.services.products.texts import Unreadable

# What was reached before the set was known.
_BARS = {"python-stdnum": (0.99, None), "zyte-parsers": (0.95, 1.0)}


def measure(corpora: Corpora) -> list[Score]:
    cases: list[dict[str, Any]] = json.loads((corpora.cases / "gtins" / "cases.json").read_text("utf-8"))
    return [score for source in ("python-stdnum", "zyte-parsers") for score in _scores(source, cases)]


def _scores(source: str, cases: list[dict[str, Any]]) -> list[Score]:
    reads = [(case["want"], _read(case["text"])) for case in cases if case["source"] == source]
    right = sum(_is_same(wanted, found) for wanted, found in reads)
    wrong = sum(found is not None and not _is_same(wanted, found) for wanted, found in reads)
    return [
        Score(f"{source}: number right", right, len(reads), *_BARS[source]),
        Score(f"{source}: number wrong", wrong, len(reads), at_most=True),
    ]


def _read(text: str) -> str | None:
    try:
        return read_gtin(text).digits
    except Unreadable:
        return None


def _is_same(wanted: str | None, found: str | None) -> bool:
    """The same number with other zeros before it is the same."""
    return wanted == found or (wanted is not None and found is not None and same_gtin(wanted, found))
