"""Garbage collection in processes that serve for long."""

from __future__ import annotations

import gc


def collect_garbage_rarely() -> None:
    """Collect garbage less often: existing objects stay, and tasks and requests create few reference cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
