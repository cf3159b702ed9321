"""What a step says about its own running: retries, limits, kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from forebay.errors import DefinitionError
from forebay.types import ErrorClass


class StepKind(StrEnum):
    """Where a step runs: on the event loop, on a thread, or in a process that can be killed."""

    ASYNC = "async"
    THREAD = "thread"
    PROCESS = "process"


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


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `rate` starts per `per` seconds, and `concurrency` at a time, over all workers, for each key.

    `key` maps an input to what is limited (a host, a provider); without it the limit is one for all.
    """

    name: str
    rate: float | None = None
    per: float = 1.0
    concurrency: int | None = None
    key: Callable[[Any], str] | None = None

    def __post_init__(self) -> None:
        if self.rate is None and self.concurrency is None:
            raise DefinitionError(f"Limit {self.name!r}: give a rate, a concurrency, or both")
        if (self.rate is not None and self.rate <= 0) or self.per <= 0:
            raise DefinitionError(f"Limit {self.name!r}: rate and per must be positive")
        if self.concurrency is not None and self.concurrency < 1:
            raise DefinitionError(f"Limit {self.name!r}: concurrency must be at least 1")
