"""What processes take of a disk."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from forebay.runner.disk_use import Watched, deleted_bytes, exceeds_size

SIZE = 64 << 10


def test_deleted_files_count_while_they_are_held(tmp_path: Path) -> None:
    path, us = tmp_path / "a", [os.getpid()]
    device = Watched.of(str(tmp_path), 0).device
    before = deleted_bytes(device, us)

    def uses(bytes_more: int) -> bool:
        return exceeds_size(Watched(str(tmp_path), before + bytes_more, device), us)

    with path.open("wb+") as file:
        file.write(bytes(SIZE))
        file.flush()
        os.fsync(file.fileno())  # the room is taken when it is written
        assert deleted_bytes(device, us) == before  # it has a name, by which it is counted
        assert uses(SIZE // 2)
        path.unlink()
        assert deleted_bytes(device, us) - before >= SIZE
        assert uses(SIZE // 2)
        assert not uses(2 * SIZE)
        mapped = mmap.mmap(file.fileno(), SIZE)
    assert deleted_bytes(device, us) - before == SIZE  # closed, but mapped
    mapped.close()
    assert deleted_bytes(device, us) == before
