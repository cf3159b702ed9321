"""Retries of a step: how many, and the delay before each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forebay.errors import DefinitionError
from forebay.types import ErrorClass


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a step is executed, and how long it waits in between.

    `attempts` counts executions. The n-th failure waits a random part of base·2^(n-1) seconds, at most `cap`.
    `not_found` counts executions that may answer NotFound before that is final.
    `throttled_for` are the seconds after which a step fails that was throttled all the time; None: as the settings say.
    `on` replaces the policy for an error class, e.g. `{ErrorClass.DATA: Retry(attempts=2)}`.
    """

    attempts: int = 3
    base: float = 1.0
    cap: float = 300.0
    not_found: int = 1
    throttled_for: float | None = None
    jitter: bool = True
    on: Mapping[ErrorClass, Retry] = field(default_factory=dict[ErrorClass, "Retry"])

    def __post_init__(self) -> None:
        if not 1 <= self.attempts <= 1000 or not 1 <= self.not_found <= 1000:
            raise DefinitionError("Retry: attempts and not_found must be between 1 and 1000")
        if self.base < 0 or self.cap < 0:
            raise DefinitionError("Retry: base and cap must not be negative")
        if self.throttled_for is not None and not self.throttled_for > 0:
            raise DefinitionError("Retry: throttled_for must be positive")

    def delay(self, attempt: int, rng: Callable[[], float] = random.random) -> float:
        """Seconds to wait after the `attempt`-th execution has failed."""
        longest: float = min(self.cap, self.base * 2.0 ** min(attempt - 1, 62))
        return longest * rng() if self.jitter else longest

    def delay_after(self, error: ErrorClass, attempt: int) -> float | None:
        """Seconds until the next execution, or None when there is none."""
        policy = self.on.get(error)
        if policy is None:
            if error in (ErrorClass.PERMANENT, ErrorClass.DATA):
                return None
            policy = self
        executions = policy.not_found if error is ErrorClass.NOT_FOUND else policy.attempts
        return policy.delay(attempt) if attempt < executions else None
