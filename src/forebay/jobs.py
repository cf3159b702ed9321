"""Functions for programs that submit jobs: stream any number of items, wait for the end of a job, read its results.

Single items and lists are submitted with the methods of a pipeline.
"""

from __future__ import annotations

from forebay.engine.submit.results import items, summary, wait
from forebay.engine.submit.stream import StreamProgress, submit_stream
from forebay.types import ItemRecord, ItemStatus, JobState, JobSummary, Submitted

__all__ = [
    "ItemRecord",
    "ItemStatus",
    "JobState",
    "JobSummary",
    "StreamProgress",
    "Submitted",
    "items",
    "submit_stream",
    "summary",
    "wait",
]
