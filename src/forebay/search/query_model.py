"""The model that questions are embedded by, in the process of the API: opened by the first search that needs it.

A search does not wait for it for long, nor for a service that does not answer: then it is by words, with a note.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.errors import ForebayError, one_line
from forebay.log import get_logger
from forebay.search import db
from forebay.search.finding import Vector
from forebay.search.models import NO_VECTORS
from forebay.services import embeddings
from forebay.services.embeddings.model_file import NAME

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from forebay.db.pool import Connection
    from forebay.services.egress import Http
    from forebay.services.embeddings.model import Model
    from forebay.settings import Settings

log = get_logger("search")

_OPENING_S, _ANSWER_S = 5.0, 3.0
_AGAIN_S = 30.0  # until a model that could not be opened is tried again
_REMEMBERED = 512  # questions: users type, page and filter
EMPTY = "nothing is embedded yet"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model of the index; `note` says why there is none."""

    id: int | None
    name: str
    note: str | None


class QueryModel:
    """Embeds questions by the model that the index is searched with."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: dict[str, asyncio.Future[Model]] = {}
        self._failed: dict[str, tuple[float, str]] = {}
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._known: OrderedDict[tuple[str, str], Sequence[float]] = OrderedDict()

    async def choose(self, conn: Connection) -> Chosen:
        """The model that the index is searched with, or why there is none."""
        if not embeddings.is_on(self._settings):
            return Chosen(None, "", embeddings.OFF)
        models = [row for row in await db.list_models(conn) if row["state"] != "old"]
        if not models:
            return Chosen(None, "", EMPTY if await db.has_vectors(conn) else NO_VECTORS)
        # The active one comes first, unless this process cannot use it any more.
        row = next((row for row in models if row["name"] in self._names()), models[0])
        return Chosen(row["id"], row["name"], None)

    async def vector(self, chosen: Chosen, text: str) -> tuple[Vector | None, str | None]:
        """What a question means to a model, or why that is not known. Call it without a connection: it may take
        seconds."""
        if chosen.id is None or not text:
            return None, chosen.note
        values, note = await self._embedded(chosen.name, text)
        return (None if values is None else Vector(chosen.id, values)), note

    def _names(self) -> set[str]:
        with suppress(ForebayError):
            return {embeddings.check_model(self._settings), NAME}
        return {NAME}

    async def _embedded(self, name: str, text: str) -> tuple[Sequence[float] | None, str | None]:
        if (known := self._known.get((name, text))) is not None:
            self._known.move_to_end((name, text))
            return known, None
        try:
            async with asyncio.timeout(_OPENING_S + _ANSWER_S):
                model = await asyncio.shield(self._open(name))
                values: list[float] = (await model.embed([text]))[0].tolist()
        except TimeoutError:
            return None, f"the model {name} does not answer in time, so that this is a search by words"
        except ForebayError as error:
            return None, f"this is a search by words: {one_line(error)}"
        self._known[name, text] = values
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return values, None

    def _open(self, name: str) -> asyncio.Future[Model]:
        loop = asyncio.get_running_loop()
        found = self._opened.get(name)
        if found is None or (found.done() and found.exception() is not None and self._is_due(name)):
            found = self._opened[name] = loop.create_future()
            self._failed[name] = (loop.time() + _AGAIN_S, name)
            task = asyncio.create_task(self._hold(name, found))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return found

    def _is_due(self, name: str) -> bool:
        return asyncio.get_running_loop().time() > self._failed[name][0]

    async def _hold(self, name: str, opened: asyncio.Future[Model]) -> None:
        """Open a model, and keep it open until the API stops: in one task, as its parts require."""
        try:
            async with AsyncExitStack() as stack:

                async def http() -> Http:
                    from forebay.services.egress import open_egress, open_http  # noqa: PLC0415 - an extra

                    guard = await stack.enter_async_context(open_egress(self._settings))
                    return await stack.enter_async_context(open_http(guard))

                model = await stack.enter_async_context(embeddings.open_model(self._settings_for(name), http))
                opened.set_result(model)
                await self._stop.wait()
        except Exception as error:
            if opened.done():
                raise
            log.warning("query_model_failed", model=name, error=one_line(error))
            opened.set_exception(error)
            opened.exception()  # whoever asks gets it; nobody need ask

    def _settings_for(self, name: str) -> Settings:
        if name != NAME:
            return self._settings
        return self._settings.model_copy(update={"embedding_model": NAME, "embedding_url": ""})

    async def close(self) -> None:
        self._stop.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_query_model(settings: Settings) -> AsyncGenerator[QueryModel]:
    model = QueryModel(settings)
    try:
        yield model
    finally:
        await model.close()
