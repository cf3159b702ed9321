"""Progress of running steps: taken at any rate, written at most twice a second."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from pydantic_core import to_json

from forebay.db import tasks
from forebay.engine.attempt import clean

if TYPE_CHECKING:
    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.context import Context


class ProgressBook:
    """The latest word of each running task, until it is written."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._lock = Lock()
        self._notes: dict[Context, tuple[float | None, str | None]] = {}

    def note(self, ctx: Context, fraction: float | None, note: str | None) -> None:
        if fraction is not None:
            fraction = min(1.0, max(0.0, float(fraction)))
        text = None if note is None else clean(note)[:200]
        with self._lock:  # steps on threads tell of theirs, too
            self._notes[ctx] = (fraction, text)

    async def flush(self) -> None:
        if not self._notes:
            return
        with self._lock:
            notes, self._notes = self._notes, {}
        written = [to_json({"step": c.step, "fraction": f, "note": t}).decode() for c, (f, t) in notes.items()]
        await tasks.report_progress(
            self._pool, [ctx.token for ctx in notes], [ctx.n for ctx in notes], written, self._clock.stamp()
        )
