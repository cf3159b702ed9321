"""Jobs, for programs that submit them: stream any number of items, wait for a job's end, read its results.

The methods of a pipeline submit single items and lists.
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
