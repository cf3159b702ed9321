"""What searching by meaning needs, in `forebay doctor`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from forebay.cli._common import find_dsn
from forebay.db.pool import connected
from forebay.errors import ConfigError, DatabaseUnavailable
from forebay.hooks import Finding
from forebay.search import db
from forebay.services import embeddings

if TYPE_CHECKING:
    from forebay.settings import Settings

_ABOUT = "search"


async def check_search(settings: Settings) -> list[Finding]:
    if not embeddings.is_on(settings):
        return [Finding("OK", _ABOUT, "by words only: FOREBAY_EMBEDDING_MODEL is empty")]
    found = [_check_model(settings)]
    with suppress(DatabaseUnavailable):  # which is a finding of its own
        found.append(await _check_vectors(settings))
    return found


def _check_model(settings: Settings) -> Finding:
    try:
        return Finding("OK", _ABOUT, f"the model is {embeddings.check_model(settings)}")
    except ConfigError as error:
        return Finding(
            "WARN", _ABOUT, "the model cannot be used, so that new texts are found by words only", str(error)
        )


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
