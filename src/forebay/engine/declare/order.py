"""The order of a step: the key whose tasks run one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from forebay.engine.declare.keys import count_arguments, key_text
from forebay.errors import DataError, DefinitionError

if TYPE_CHECKING:
    from forebay.engine.declare.limit import TaskInfo

OrderKey = Callable[[Any], Any] | Callable[[Any, "TaskInfo"], Any] | str


@dataclass(frozen=True, slots=True)
class Order:
    """The tasks of one key of one owner run one at a time, in the order in which they were submitted."""

    key: OrderKey
    takes_task: bool = field(init=False, default=False)  # whether the key has two parameters

    def __post_init__(self) -> None:
        count = 1 if isinstance(self.key, str) else count_arguments(self.key)
        if count is None:
            raise DefinitionError(
                "ordered_by must be the name of a field, a function of the input, or of the input and a TaskInfo"
            )
        object.__setattr__(self, "takes_task", count == 2)

    def key_of(self, value: Any, task: TaskInfo | None) -> str | None:
        """The key of an input; None: it has no order.

        Raises: DataError if the key cannot be determined.
        """
        try:
            key = self._find(value, task)
        except Exception as error:
            raise DataError(f"ordered_by: the input has no key ({type(error).__name__}: {error})") from error
        return None if key is None else key_text(key)

    def _find(self, value: Any, task: TaskInfo | None) -> Any:
        if isinstance(self.key, str):
            if not isinstance(value, Mapping):
                return getattr(value, self.key)
            return cast("Mapping[str, Any]", value)[self.key]
        key: Callable[..., Any] = self.key
        return key(value, task) if self.takes_task else key(value)


def check_field(order: Order, input_type: Any, where: str) -> None:
    """Raises: DefinitionError if the order names a field that the input does not have."""
    name = order.key
    if not isinstance(name, str) or not (isinstance(input_type, type) and issubclass(input_type, BaseModel)):
        return
    if name not in input_type.model_fields and not hasattr(input_type, name):
        raise DefinitionError(f"{where}: ordered_by={name!r} is not a field of {input_type.__name__}")
