"""The log of rejected requests, with the reasons that their callers were told."""

from __future__ import annotations

import time

from forebay.log import get_logger

_MOST = 100
_EVERY = 10.0  # seconds
_LONGEST = 200  # characters of a reason

log = get_logger("api")


class RejectionLog:
    """Logs at most 100 rejections in ten seconds, then their number: whoever sends many does not fill the log."""

    def __init__(self) -> None:
        self._begun = float("-inf")
        self._logged = self._dropped = 0

    def add(self, status: int, reason: str) -> None:
        now = time.monotonic()
        if now - self._begun >= _EVERY:
            self._begin(now)
        if self._logged >= _MOST:
            self._dropped += 1
            return
        self._logged += 1
        log.info("request_rejected", status=status, reason=reason.partition("\n")[0][:_LONGEST])

    def _begin(self, now: float) -> None:
        if self._dropped:
            log.warning("rejections_not_logged", requests=self._dropped, seconds=round(now - self._begun))
        self._begun, self._logged, self._dropped = now, 0, 0


rejections = RejectionLog()  # one log per process
