"""Retries of a step: the number of attempts, and the delay between them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from forebay.errors import DefinitionError
from forebay.types import ErrorClass


@dataclass(frozen=True, slots=True)
class Retry:
    """How many times a step is executed, and the delay between executions.

    `attempts` is the maximum number of executions. The delay after the n-th failure is a random part of base·2^(n-1)
    seconds, at most `cap`.
    `not_found` is the number of NotFound outcomes after which the item is not retried.
    `throttled_for` is the time in seconds after which a step that is throttled without a break fails; None: the
    setting.
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
        """Seconds to wait after the `attempt`-th execution failed."""
        longest: float = min(self.cap, self.base * 2.0 ** min(attempt - 1, 62))
        return longest * rng() if self.jitter else longest

    def delay_after(self, error: ErrorClass, attempt: int) -> float | None:
        """Seconds until the next execution, or None if there is no next execution."""
        policy = self.on.get(error)
        if policy is None:
            if error in (ErrorClass.PERMANENT, ErrorClass.DATA):
                return None
            policy = self
        executions = policy.not_found if error is ErrorClass.NOT_FOUND else policy.attempts
        return policy.delay(attempt) if attempt < executions else None
