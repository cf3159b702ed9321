"""What every embedding model has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Model(Protocol):
    """Makes vectors of texts: float32, of the length 1, near to each other for texts of similar meaning."""

    @property
    def name(self) -> str:
        """Vectors of models with different names cannot be compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """What a text has beyond that is ignored."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text; an estimate, if only the service knows."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text.

        Raises: ConfigError, TransientError, ThrottledError or DataError.
        """
        ...
