"""Prices and GTINs on test data of other projects: the bars of `python -m bench.detection` hold."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from bench.detection import gtins, prices
from bench.detection.score import Corpora

CORPORA = Corpora(Path(__file__).parents[3] / "bench" / "corpora", None)


@pytest.mark.parametrize(("measured", "least"), [(prices, 4), (gtins, 4)])
def test_the_bars_hold(measured: ModuleType, least: int) -> None:
    scores = measured.measure(CORPORA)
    assert len(scores) >= least
    assert [f"{score.what}: {score.share:.1%}" for score in scores if not score.holds or not score.cases] == []
