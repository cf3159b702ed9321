"""Limits that a step declares: a start rate and a concurrency, across all workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forebay.engine.declare.keys import count_arguments
from forebay.errors import DefinitionError

# Names of the limits of forebay's own that are not declared by steps, such as those of hosts and providers. Limits of
# the same name are one limit, so that no step may declare one of these.
RESERVED_PREFIX = "forebay:"
HOST_LIMIT = f"{RESERVED_PREFIX}host"  # its keys are the hosts that pages are fetched from
OWNER_LIMIT = f"{RESERVED_PREFIX}owner"  # the limit of the setting `owner_concurrency`


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """What the key of a limit, or of an order, may depend on, besides the input."""

    job_id: int
    owner_id: int
    owner: str  # the name
    meta: Mapping[str, Any] | None  # of the job


def _owner_of(value: object, task: TaskInfo) -> str:
    return str(task.owner_id)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `rate` starts per `per` seconds, and `concurrency` at a time, across all workers, for each key.

    `key` maps an input to the limited entity (a host, a provider). A function with two parameters gets the input and a
    `TaskInfo` with the owner and the job's meta. Without a key, there is one limit for all inputs.
    """

    name: str
    rate: float | None = None
    per: float = 1.0
    concurrency: int | None = None
    key: Callable[[Any], str] | Callable[[Any, TaskInfo], str] | None = None
    takes_task: bool = field(init=False, repr=False, compare=False, default=False)  # whether the key has two parameters

    def __post_init__(self) -> None:
        if self.rate is None and self.concurrency is None:
            raise DefinitionError(f"Limit {self.name!r}: give a rate, a concurrency, or both")
        if (self.rate is not None and self.rate <= 0) or self.per <= 0:
            raise DefinitionError(f"Limit {self.name!r}: rate and per must be positive")
        if self.concurrency is not None and self.concurrency < 1:
            raise DefinitionError(f"Limit {self.name!r}: concurrency must be at least 1")
        count = 1 if self.key is None else count_arguments(self.key)
        if count is None:
            raise DefinitionError(
                f"Limit {self.name!r}: key must be a function of the input, or of the input and a TaskInfo"
            )
        object.__setattr__(self, "takes_task", count == 2)

    @classmethod
    def per_owner(
        cls, name: str, *, rate: float | None = None, per: float = 1.0, concurrency: int | None = None
    ) -> Limit:
        """A limit for each owner: the others can use what one owner may not."""
        return cls(name, rate, per, concurrency, _owner_of)

    @property
    def reads_job(self) -> bool:
        """Whether the key may depend on what a lease does not have: the owner's name and the job's meta."""
        return self.takes_task and self.key is not _owner_of

    def key_of(self, value: Any, task: TaskInfo | None) -> Any:
        """The key of an input. Raises: whatever the function raises."""
        assert self.key is not None  # noqa: S101 - checked by the callers
        key: Callable[..., Any] = self.key
        return key(value, task) if self.takes_task else key(value)
