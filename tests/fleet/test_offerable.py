"""Which steps a fleet runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from forebay.cli._fleet import left_to_workers
from forebay.engine.declare.loading import load_pipelines
from forebay.settings import Settings
from tests.cli._run import Cli

if TYPE_CHECKING:
    from pathlib import Path


def test_the_pipelines_of_the_service_stay_with_workers() -> None:
    pipelines = load_pipelines(Settings().pipeline_modules)
    steps = {step.label for pipeline in pipelines for step in pipeline.steps.values()}
    assert steps > {"media.download", "bookmarks.metadata"}
    offered = steps - set(left_to_workers(pipelines))
    assert {"texts.count", "texts.fingerprint"} <= offered
    assert {step.partition(".")[0] for step in offered} == {"texts"}  # the example


@pytest.mark.parametrize("command", ["runner", "dispatch"])
def test_queues_that_a_fleet_cannot_run_are_refused(command: str, tmp_path: Path) -> None:
    """Else its processes would wait for work that never comes, and autoscalers would start more of them."""
    cli = Cli(tmp_path, FOREBAY_BROKER_URL="nats://127.0.0.1:9", FOREBAY_PIPELINES="forebay.example,forebay.pipelines")
    refused = cli.run(command, "--queues", "texts.count,media.transcribe")
    assert refused.code == 2
    assert "a fleet can run no step of media.transcribe, workers have to" in refused.err
    assert "media.transcribe: it is declared with needs_database" in refused.err
    refused = cli.run(command, FOREBAY_PIPELINES="forebay.pipelines")
    assert refused.code == 2
    assert "a fleet can run none of the steps" in refused.err
