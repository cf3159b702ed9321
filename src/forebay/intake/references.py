"""Files of declared sources that are submitted by their paths."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from forebay.api.problems import Problem
from forebay.engine.submit.options import checked_text
from forebay.errors import DataError
from forebay.intake import uploads
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.forms import answer_of
from forebay.intake.source_routes import find_visible_source
from forebay.intake.sources import ASKED, take
from forebay.services.sources.names import checked_path

if TYPE_CHECKING:
    from starlette.datastructures import State

    from forebay.api.auth.authentication import Principal
    from forebay.api.idempotency import Idempotency
    from forebay.api.models import NewJob
    from forebay.api.role_pools import RolePools
    from forebay.hooks import Answer
    from forebay.intake.target import IntakeTarget


async def accept(target: IntakeTarget, state: State, who: Principal, idempotent: Idempotency, body: NewJob) -> Answer:
    """Submit a file of a declared source; it is fetched in the background.

    Raises: Problem, RequestValidationError or NotFoundError that names the field.
    """
    name, _, path = (body.file or "").partition(":")
    if not path or body.items is not None or "input" in body.model_fields_set:
        raise Problem(
            422, "names a file of a source, as drop:march.csv, and goes without `input` and `items`", field="file"
        )
    for field, is_given in (("coalesce", body.coalesce), ("maxWaitSeconds", body.max_wait_seconds is not None)):
        if is_given:
            raise Problem(422, uploads.NOT_FOR_FILES, field=field)
    given: dict[str, Any] = {"file": _checked_path(path), "options": body.options or {}}
    about = uploads.announced(target, {"pipeline": target.name, "runAt": body.run_at, "unique": body.unique, **given})
    source = find_visible_source(target, who, state.settings, name)
    if why := target.check_name(state.settings, path):
        raise Problem(422, why, field="file")
    new = NewFile(path, None, about.given_options, source.name, path, f"{ASKED}{secrets.token_hex(8)}")
    terms = FileTerms(body.key, body.priority, body.meta)
    pools: RolePools = state.pools
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return known.status, known.body
        (await state.quotas.of(pools.owners, who.owner_id)).admit()
        await target.check_options(conn, state.settings, about.options)
        added = await take(target, conn, source.owner, new, terms, paused=about.is_paused, actor=who.actor)
        answer = answer_of(target, added)
        await idempotent.keep(conn, who, 201 if added.created else 200, answer)
    return 201 if added.created else 200, answer


def _checked_path(path: str) -> str:
    """A normalized path within a source."""
    try:
        return "/".join(checked_path(checked_text("file", path, 500)))
    except DataError as error:
        raise Problem(422, str(error), field="file") from error
