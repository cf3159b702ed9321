"""Batches on their way into the database."""

from __future__ import annotations

from forebay import Pipeline
from forebay.engine.db.loads import Batch, Heap
from forebay.engine.submit.producer import _encoded


def test_batches_are_gathered_by_rows_and_bytes() -> None:
    heap = Heap(most_rows=5, most_bytes=100)
    assert heap.take() is None
    assert [heap.add(Batch([1, 2], None, [b"a", b"b"])), heap.add(Batch([3, 4], ["x", None], [b"c", b"d"]))] == [
        False
    ] * 2
    assert heap.add(Batch([5], None, [b"e"]))
    assert heap.take() == Batch([1, 2, 3, 4, 5], [None, None, "x", None, None], [b"a", b"b", b"c", b"d", b"e"])
    assert heap.add(Batch([6], None, [b"f" * 100]))
    assert heap.take() == Batch([6], [None], [b"f" * 100])


def test_blocks_have_fewer_rows_when_those_are_large() -> None:
    texts: Pipeline[str] = Pipeline("texts", str, max_input_bytes=4 << 20)
    small = [len(batch.inputs) for batch in _encoded(texts, ["x"] * 600, None)]
    large = [len(batch.inputs) for batch in _encoded(texts, ["x" * (256 << 10)] * 16 + ["x" * (2 << 20)] * 5, None)]
    assert small == [16, 256, 256, 72]
    assert large == [16, 3, 1, 1]
