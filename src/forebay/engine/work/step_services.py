"""What a worker does for its running steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource, Resources
    from forebay.engine.processes.pool import ProcessPool
    from forebay.engine.work.progress import ProgressBook

T = TypeVar("T")


class WorkerServices:
    """Takes down their progress, opens what they share, and runs their functions in processes."""

    def __init__(self, progress: ProgressBook, resources: Resources, processes: ProcessPool) -> None:
        self.note = progress.note
        self._resources = resources
        self._processes = processes

    async def get(self, resource: Resource[T]) -> T:
        return await self._resources.get(resource)

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        return await self._processes.run(limited, ctx, args, kwargs)
