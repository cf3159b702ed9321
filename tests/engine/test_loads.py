"""Batches of items for bulk loads."""

from __future__ import annotations

from forebay import Pipeline
from forebay.engine.db.loads import BatchBuffer, ItemBatch
from forebay.engine.submit.bulk import encoded_batches


def test_batches_are_gathered_by_rows_and_bytes() -> None:
    buffer = BatchBuffer(most_rows=5, most_bytes=100)
    assert buffer.take() is None
    assert [
        buffer.add(ItemBatch([1, 2], None, [b"a", b"b"])),
        buffer.add(ItemBatch([3, 4], ["x", None], [b"c", b"d"])),
    ] == [False] * 2
    assert buffer.add(ItemBatch([5], None, [b"e"]))
    assert buffer.take() == ItemBatch([1, 2, 3, 4, 5], [None, None, "x", None, None], [b"a", b"b", b"c", b"d", b"e"])
    assert buffer.add(ItemBatch([6], None, [b"f" * 100]))
    assert buffer.take() == ItemBatch([6], [None], [b"f" * 100])


def test_blocks_have_fewer_rows_when_those_are_large() -> None:
    texts: Pipeline[str] = Pipeline("texts", str, max_input_bytes=4 << 20)
    small = [len(batch.inputs) for batch in encoded_batches(texts, ["x"] * 600, None)]
    large = [
        len(batch.inputs) for batch in encoded_batches(texts, ["x" * (256 << 10)] * 16 + ["x" * (2 << 20)] * 5, None)
    ]
    assert small == [16, 256, 256, 72]
    assert large == [16, 3, 1, 1]
