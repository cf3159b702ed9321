"""A process that puts, adopts or cleans, says how far it is, and then waits to be killed.

python -m tests.storage._child '{"dsn": …, "settings": {…}, "stop": …, "adopted": …}'
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from forebay.db.pool import open_pool
from forebay.settings import Settings
from forebay.storage import Blobs, clean, open_store
from tests.storage._help import ANN, BIG, Held


def _say_reached() -> None:
    sys.stdout.write("reached\n")
    sys.stdout.flush()


async def _stalls() -> AsyncIterator[bytes]:
    yield BIG
    _say_reached()
    await asyncio.Event().wait()


async def main(dsn: str, settings: dict[str, Any], stop: str, adopted: str | None = None) -> None:
    store = open_store(Settings(**settings))
    call, _, when = stop.partition(" ")
    held = Held(store, call, when)
    async with await open_pool(dsn, size=2, name="forebay tests") as pool:
        if call == "source":
            await Blobs(pool, store).put(_stalls(), owner_id=ANN, name="x")
            return
        if call == "delete":
            later = datetime.now(UTC) + timedelta(days=2)
            work: asyncio.Task[Any] = asyncio.create_task(clean(pool, held.as_store, now=later))
        elif adopted is not None:
            work = asyncio.create_task(Blobs(pool, held.as_store).adopt(Path(adopted), owner_id=ANN, name="x"))
        else:
            work = asyncio.create_task(Blobs(pool, held.as_store).put(BIG, owner_id=ANN, name="x"))
        await held.reached.wait()
        _say_reached()
        await work


if __name__ == "__main__":
    asyncio.run(main(**json.loads(sys.argv[1])))
