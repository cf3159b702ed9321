"""Which steps a fleet runs."""

from __future__ import annotations

from forebay.cli._fleet import left_to_workers
from forebay.engine.declare.loading import load_pipelines
from forebay.settings import Settings


def test_the_pipelines_of_the_service_stay_with_workers() -> None:
    pipelines = load_pipelines(Settings().pipeline_modules)
    steps = {step.label for pipeline in pipelines for step in pipeline.steps.values()}
    assert steps > {"media.download", "bookmarks.metadata"}
    offered = steps - set(left_to_workers(pipelines))
    assert {"texts.count", "texts.fingerprint"} <= offered
    assert {step.partition(".")[0] for step in offered} == {"texts"}  # the example
