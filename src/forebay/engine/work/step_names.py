"""Names of steps in other versions of their pipelines: results are stored under the name that the job's version has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.pool import retry_until_up
from forebay.engine.db import registry
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.db.tasks import Lease

log = get_logger("step_names")


class StepNames:
    """Adds to leases the names that steps have in the versions of their jobs, if this worker knows them by others."""

    def __init__(self, pool: Pool, versions: Iterable[int], timeout: float) -> None:
        self._pool = pool
        self._own = tuple(versions)
        self._timeout = timeout
        self._names: dict[int, Mapping[str, str] | None] = dict.fromkeys(self._own)

    async def learn(self, leases: Sequence[Lease]) -> None:
        unknown = {lease.version_id for lease in leases}.difference(self._names)
        if unknown:
            await self._read(sorted(unknown))
        if len(self._names) > len(self._own):
            for lease in leases:
                lease.names = self._names[lease.version_id]

    async def _read(self, versions: list[int]) -> None:
        renamed = await retry_until_up(
            lambda: registry.list_renamed_steps(self._pool, versions, self._own), _repeated, self._timeout
        )
        for version_id in versions:
            self._names[version_id] = {here: there for v, there, here in renamed if v == version_id} or None


def _repeated(error: BaseException, pause: float) -> None:
    log.warning("step_names_read_again", error=one_line(error), pause=pause)
