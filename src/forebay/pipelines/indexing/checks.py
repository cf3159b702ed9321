"""What searching by meaning needs, in `forebay doctor`."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from forebay.cli._common import find_dsn
from forebay.db.pool import connected
from forebay.errors import ConfigError, DatabaseUnavailable, StepError, one_line
from forebay.hooks import Finding
from forebay.search import db
from forebay.services import embeddings

if TYPE_CHECKING:
    from forebay.services.egress import Http
    from forebay.settings import Settings

_ABOUT = "search"
_ANSWER_S = 5.0
_UNAVAILABLE = "check FOREBAY_EMBEDDING_URL and the service; texts are embedded when it answers again"


async def check_search(settings: Settings) -> list[Finding]:
    if not embeddings.is_on(settings):
        return [Finding("OK", _ABOUT, "by words only: FOREBAY_EMBEDDING_MODEL is empty")]
    found = [await _check_model(settings)]
    with suppress(DatabaseUnavailable):  # which is a finding of its own
        found.append(await _check_vectors(settings))
    return found


async def _check_model(settings: Settings) -> Finding:
    try:
        name = embeddings.check_model(settings)
        if settings.embedding_url:
            await _ask_service(settings)
            return Finding("OK", _ABOUT, f"the embedding service answers: {name}")
    except ConfigError as error:
        return Finding(
            "WARN", _ABOUT, "the model cannot be used, so that new texts are found by words only", one_line(error)
        )
    except (StepError, TimeoutError) as error:
        reason = f"no answer within {_ANSWER_S:g} s" if isinstance(error, TimeoutError) else one_line(error)
        return Finding("WARN", _ABOUT, f"the embedding service is not available: {reason}", _UNAVAILABLE)
    return Finding("OK", _ABOUT, f"the model is {name}")


async def _ask_service(settings: Settings) -> None:
    """Embed one word by the configured service.

    Raises: ConfigError, StepError or TimeoutError.
    """
    from forebay.services.egress import open_egress, open_http  # noqa: PLC0415 - an extra

    async with asyncio.timeout(_ANSWER_S), AsyncExitStack() as stack:

        async def http() -> Http:
            return await stack.enter_async_context(open_http(await stack.enter_async_context(open_egress(settings))))

        model = await stack.enter_async_context(embeddings.open_model(settings, http))
        await model.embed(["test"])


async def _check_vectors(settings: Settings) -> Finding:
    async with connected(find_dsn(settings), "forebay doctor") as conn:
        if await db.has_vectors(conn):
            active = next((row["name"] for row in await db.list_models(conn) if row["state"] == "active"), None)
            return Finding("OK", _ABOUT, f"vectors of {active}" if active else "no text is embedded yet")
        has_schema = await db.has_schema(conn)
    if not has_schema:
        return Finding("OK", _ABOUT, "the database has no index yet")
    return Finding(
        "WARN",
        _ABOUT,
        "the database has no extension `vector`: searches are by words only",
        "install pgvector on the database server, and run `forebay migrate --service`",
    )
