"""Registers pipelines that no worker has registered yet, so that the first submits are not refused.

The API registers them when it starts, and once more when a submit finds that its pipeline is unknown: the database may
have been down before, or was replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from forebay.db.pool import connected
from forebay.engine.db import registry
from forebay.errors import ForebayError, UnknownPipeline
from forebay.identity.logins import WORKER, login_url
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from forebay.engine.declare.pipeline import Pipeline
    from forebay.settings import Settings

T = TypeVar("T")

log = get_logger("api")


class FirstSubmits:
    """Registers the pipelines of an API with the account of workers; the accounts of callers may not do that."""

    def __init__(self, dsn: str, settings: Settings, pipelines: Sequence[Pipeline[Any]]) -> None:
        self._dsn = login_url(settings, WORKER, dsn)
        self._definitions = [each.definition() for each in pipelines if each.steps]

    async def register(self) -> None:
        """Register those that are unknown; others stay as they are.

        Raises: ForebayError.
        """
        async with connected(self._dsn, "forebay registration") as conn:
            await registry.register_unknown(conn, self._definitions)

    async def register_on_start(self) -> None:
        """The same; an API also starts without a database."""
        try:
            await self.register()
        except ForebayError as error:
            log.warning("pipelines_not_registered", error=str(error))

    async def submitted(self, submit: Callable[[], Awaitable[T]]) -> T:
        """Call `submit`, which has a transaction of its own; if its pipeline is unknown, register it and call it again.

        Raises: ForebayError.
        """
        try:
            return await submit()
        except UnknownPipeline:
            await self.register()
            return await submit()
