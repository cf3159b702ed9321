"""What workers are told by NOTIFY: ready tasks, cancelled jobs, changed queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.listen import Listener
from forebay.engine.db import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forebay.engine.work.claimer import Claimer
    from forebay.engine.work.executor import StepExecutor
    from forebay.settings import Settings


class Messages:
    """Passes messages to the modules of one worker."""

    def __init__(self, claimer: Claimer, executors: Mapping[int, StepExecutor]) -> None:
        self._claimer = claimer
        self._executors = executors

    def on_listening(self) -> None:
        """Handle a new connection: messages may have been missed."""
        self._claimer.polling.request()

    def on_message(self, payload: str) -> None:
        verb, *args = payload.split()
        if verb == "ready":
            step_id, lane_id, seq = (int(arg) for arg in args)
            self._claimer.wake_ups.add(step_id, lane_id, seq)
        elif verb == "pass":
            step_id, lane_id, seq, round_no = (int(arg) for arg in args)
            self._claimer.wake_ups.add(step_id, lane_id, seq, round_no)
        elif verb == "key":
            step_id, lane_id, seq = (int(arg) for arg in args)
            self._claimer.waking.wake_key(step_id, lane_id, seq)
        elif verb == "cancel":
            for executor in self._executors.values():
                executor.cancel_job(int(args[0]))
        elif verb == "queue":  # perhaps resumed or unparked
            self._claimer.polling.request()


def make_listener(dsn: str, settings: Settings, messages: Callable[[], Messages]) -> Listener:
    """The listener of one worker, whose messages are handled by `messages()`."""
    return Listener(
        settings.session_dsn(dsn),
        lambda payload: messages().on_message(payload),
        lambda: messages().on_listening(),
        prepared=settings.prepared_statements,
        warm_up=tasks.prepare_claims if settings.prepared_statements else None,
    )
