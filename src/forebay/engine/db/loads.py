"""Items to be stored in bulk, in the format of COPY."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple, TypeAlias

Args: TypeAlias = Sequence[object]

COLUMNS = ("n", "key", "input", "job_id", "owner_id", "pipeline_id")


class ItemBatch(NamedTuple):
    """Some items, column by column: numbers, keys (None: no item has one) and inputs as JSON."""

    ns: Sequence[int]
    keys: Sequence[str | None] | None
    inputs: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class ItemLoad:
    """The items of one job, in batches; each is created while the previous one is being sent."""

    job_id: int
    owner_id: int
    pipeline_id: int
    batches: Iterable[ItemBatch]

    def blocks(self) -> Iterator[bytes]:
        """The batches in COPY's binary format, which costs the server a tenth less than text."""
        # The end of each row is constant, and so is the column count that begins the next: one join writes both.
        begin = _BEGIN.pack(len(COLUMNS), 4)
        end = _END.pack(8, self.job_id, 8, self.owner_id, 4, self.pipeline_id)
        yield _HEADER
        for batch in self.batches:
            rows = _unnamed_rows(batch) if batch.keys is None else _named_rows(batch, batch.keys)
            yield begin + (end + begin).join(rows) + end
        yield _TRAILER

    def columns(self) -> Iterator[Args]:
        """The batches as arguments of insert_items."""
        return map(self.arguments, self.batches)

    def arguments(self, batch: ItemBatch) -> Args:
        ns, keys, inputs = batch
        return (
            self.job_id,
            self.owner_id,
            self.pipeline_id,
            list(ns),
            list(keys or [None] * len(ns)),
            [data.decode() for data in inputs],
        )


@dataclass(slots=True)
class BatchBuffer:
    """Collects batches until a statement with them is worth a round trip, but not so many that memory is exceeded."""

    most_rows: int = 4096
    most_bytes: int = 2 << 20
    _batches: list[ItemBatch] = field(default_factory=list[ItemBatch])
    _bytes: int = 0

    def add(self, batch: ItemBatch) -> bool:
        """Add a batch; return whether it is time to send them."""
        self._batches.append(batch)
        self._bytes += sum(map(len, batch.inputs))
        return self._bytes >= self.most_bytes or sum(len(one.ns) for one in self._batches) >= self.most_rows

    def take(self) -> ItemBatch | None:
        """All batches as one; None if there are none."""
        if not self._batches:
            return None
        batches, self._batches, self._bytes = self._batches, [], 0
        keys = [key for one in batches for key in one.keys or [None] * len(one.ns)]
        return ItemBatch([n for one in batches for n in one.ns], keys, [data for one in batches for data in one.inputs])


_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_BEGIN = Struct(">hi")  # columns, bytes of n
_END = Struct(">iqiqii")  # job_id, owner_id and pipeline_id, each preceded by its length
_NUMBER_AND_KEY = Struct(">ii")  # n, bytes of the key
_INPUT = Struct(">ib")  # bytes of the input, version of jsonb's format
_NUMBER_AND_INPUT = Struct(">iiib")


def _unnamed_rows(batch: ItemBatch) -> list[bytes]:
    pack = _NUMBER_AND_INPUT.pack
    return [pack(n, -1, len(data) + 1, 1) + data for n, data in zip(batch.ns, batch.inputs, strict=True)]


def _named_rows(batch: ItemBatch, keys: Sequence[str | None]) -> Iterator[bytes]:
    for n, key, data in zip(batch.ns, keys, batch.inputs, strict=True):
        name = b"" if key is None else key.encode()
        size = -1 if key is None else len(name)
        yield b"".join((_NUMBER_AND_KEY.pack(n, size), name, _INPUT.pack(len(data) + 1, 1), data))
