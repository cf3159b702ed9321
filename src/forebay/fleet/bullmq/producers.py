"""Jobs that producers for Node add to a queue of BullMQ: they are submitted to PostgreSQL, and work begins there.

The data of such a job is an object with pipeline and input, and if wanted owner, key, priority, delay and meta.
BullMQ may give a job out twice, and its id makes it one job here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bullmq  # pyright: ignore[reportMissingTypeStubs]

from forebay.db.pool import open_pool, retry_until_up
from forebay.engine.submit import producer
from forebay.errors import InvalidField, RequestError, one_line
from forebay.fleet.bullmq.connection import Address, connect
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Pool
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.types import Submitted

log = get_logger("bullmq")

_AT_ONCE = 50
_CONNECTIONS = 2
_RETRY_MS = 1000
_OPTIONS = ("owner", "key", "priority", "delay", "meta")


class ProducedJobs:
    """Submits the jobs of one queue of BullMQ."""

    def __init__(self, url: str, queue: str, pipelines: Sequence[Pipeline[Any]], dsn: str) -> None:
        """Raises: DefinitionError if the address is not one of Redis."""
        address = Address.parse(url)
        self._queue = queue
        self._pipelines = {pipeline.name: pipeline for pipeline in pipelines}
        self._dsn = dsn
        self._pool: Pool | None = None
        self._redis = connect(address)
        options: Any = {
            "connection": self._redis,
            "prefix": address.prefix,
            "autorun": False,
            "concurrency": _AT_ONCE,
            "maxStalledCount": 1_000_000,  # what a dispatcher leaves behind is submitted by another one
            "runRetryDelay": _RETRY_MS,
        }
        submit: Any = self._submit
        self._worker: Any = bullmq.Worker(queue, submit, options)
        self._worker.on("error", self._on_error)

    async def run(self) -> None:
        """Submit forever."""
        async with await open_pool(self._dsn, size=_CONNECTIONS, name="forebay produced jobs") as self._pool:
            try:
                await self._worker.run()
            finally:
                await self._worker.close(force=True)
                await self._redis.aclose()

    async def _submit(self, job: Any, _token: str) -> dict[str, str]:
        try:
            pipeline, given, options = self._read(job)
            submitted = await retry_until_up(lambda: self._submitted(pipeline, given, options), self._on_lost)
        except RequestError as error:  # the producer finds this text at its job
            raise bullmq.UnrecoverableError(str(error)) from None
        return {"job_id": str(submitted.job_id)}

    def _read(self, job: Any) -> tuple[Pipeline[Any], Any, dict[str, Any]]:
        data = job.data
        if not isinstance(data, dict):
            raise InvalidField("data", "must be an object with the fields pipeline and input")
        read: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
        if unknown := sorted(set(read) - {"pipeline", "input", *_OPTIONS}):
            raise InvalidField(unknown[0], f"is not known; the fields are pipeline, input, {', '.join(_OPTIONS)}")
        pipeline = self._pipelines.get(read.get("pipeline", ""))
        if pipeline is None:
            known = ", ".join(sorted(self._pipelines))
            raise InvalidField("pipeline", f"{read.get('pipeline')!r} is not known here; there are {known}")
        if "input" not in read:
            raise InvalidField("input", "is required")
        options = {name: read[name] for name in _OPTIONS if read.get(name) is not None}
        options.setdefault("key", f"bullmq:{self._queue}:{job.id}:{job.timestamp}")
        return pipeline, read["input"], options

    async def _submitted(self, pipeline: Pipeline[Any], given: Any, options: dict[str, Any]) -> Submitted:
        assert self._pool is not None  # noqa: S101 - it is open while the worker runs
        async with self._pool.acquire() as conn:
            return await producer.submit(conn, pipeline, given, **options)

    def _on_lost(self, error: BaseException, pause: float) -> None:
        log.warning("produced_job_waits", queue=self._queue, error=one_line(error), pause=pause)

    def _on_error(self, error: object, *_: object) -> None:
        log.warning("queue_not_read", queue=self._queue, error=str(error))
