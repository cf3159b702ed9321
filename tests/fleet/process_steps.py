"""A pipeline whose step runs in a process of its own."""

from __future__ import annotations

import os
import time
from typing import Any

from forebay import Context, DataError, Pipeline, Retry

pipeline: Pipeline[dict[str, Any]] = Pipeline("processes", dict)


@pipeline.step(kind="process", timeout=2, retry=Retry(attempts=1))
def apart(ctx: Context, value: dict[str, Any]) -> int:
    """Do what the input says."""
    if value["do"] == "raise":
        raise DataError("malformed")
    if value["do"] == "hang":
        time.sleep(600)
    return os.getpid()
