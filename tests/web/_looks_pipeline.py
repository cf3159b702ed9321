"""The generic page of a pipeline, in its states."""

from __future__ import annotations

from tests.web._pages import Look, job_with_a_failure

LOOKS = [
    Look("/pipelines/pages", "empty", "Pages"),
    Look("/pipelines/pages", "with a job", "Pages", job_with_a_failure),
    Look("/pipelines/none", "gone", "none"),
]
