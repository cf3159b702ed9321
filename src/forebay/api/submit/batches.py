"""Submits that come at the same time share a statement and its commit: those of one owner, to one pipeline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast
from weakref import WeakValueDictionary

from forebay.api.batching import Batcher
from forebay.db.pool import REJECTED, UNAVAILABLE
from forebay.errors import RequestError, SchemaError
from forebay.identity import session_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.api.auth.authentication import Principal
    from forebay.db.role_pool import RolePool

_AT_ONCE = 2  # statements of one group: one is saved while the next one is collected and sent
_MOST = 100  # submits of one statement
_LARGEST = 32 << 10  # characters of an input that shares a statement

Saved: TypeAlias = tuple[int, bool]  # the job, and whether it is new


class _Group(NamedTuple):
    """What submits must have in common to share a statement."""

    owner_id: int
    ip: str | None
    pipeline: str
    owner: str
    priority: int


class SubmitBatches:
    """The submits of one item each that are on their way to the database."""

    def __init__(self, pool: RolePool) -> None:
        self._pool = pool
        # A group is there as long as one of its submits is.
        self._groups: WeakValueDictionary[_Group, Batcher[Sequence[object], Saved | Exception]] = WeakValueDictionary()

    async def submit(self, who: Principal, args: Sequence[object]) -> Saved:
        """Saves one item; `args` are those of the statement submit_item.

        Raises: RequestError.
        """
        pipeline, data, owner, key, priority, run_at, delay, _, meta, trace, *_ = args
        if any(option is not None for option in (key, run_at, delay, meta, trace)):  # the others need a key
            return await self._submit_alone(who.owner_id, who.ip, args)
        if len(cast("str", data)) > _LARGEST:
            return await self._submit_alone(who.owner_id, who.ip, args)
        group = _Group(who.owner_id, who.ip, cast("str", pipeline), cast("str", owner), cast("int", priority))
        saved = await self._batcher(group).call(args)
        if isinstance(saved, Exception):
            raise saved
        return saved

    def _batcher(self, group: _Group) -> Batcher[Sequence[object], Saved | Exception]:
        batcher = self._groups.get(group)
        if batcher is None:
            batcher = self._groups[group] = Batcher(partial(self._send, group), at_once=_AT_ONCE, most=_MOST)
        return batcher

    async def _send(self, group: _Group, batch: list[Sequence[object]]) -> Sequence[Saved | Exception]:
        if len(batch) == 1:
            return [await self._submit_alone(group.owner_id, group.ip, batch[0])]
        try:
            jobs = await session_context.submit_jobs_for(
                self._pool, *group, [cast("str", data) for _, data, *_ in batch]
            )
        except UNAVAILABLE:
            raise  # whether it was saved is not known: it must not be sent again
        except (RequestError, SchemaError, *REJECTED):  # nothing was saved, for the sake of one of them
            return [await self._outcome(group, args) for args in batch]
        return [(job_id, True) for job_id in jobs]

    async def _outcome(self, group: _Group, args: Sequence[object]) -> Saved | Exception:
        try:
            return await self._submit_alone(group.owner_id, group.ip, args)
        except Exception as error:  # it belongs to one of the callers
            return error

    async def _submit_alone(self, owner_id: int, ip: str | None, args: Sequence[object]) -> Saved:
        return await session_context.submit_for(self._pool, owner_id, ip, args)
