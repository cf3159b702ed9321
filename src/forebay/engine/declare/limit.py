"""Limits that a step declares: a start rate and a concurrency, across all workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forebay.errors import DefinitionError

# Names of the limits of forebay's own that are not declared by steps, such as those of hosts and providers. Limits of
# the same name are one limit, so that no step may declare one of these.
RESERVED_PREFIX = "forebay:"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `rate` starts per `per` seconds, and `concurrency` at a time, across all workers, for each key.

    `key` maps an input to the limited entity (a host, a provider). Without a key, there is one limit for all inputs.
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
