"""Jobs of a target, which are submitted as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import JobHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from forebay.api.auth.authentication import Principal
    from forebay.api.idempotency import Idempotency
    from forebay.api.models import NewJob
    from forebay.db.pool import Connection
    from forebay.hooks import Answer
    from forebay.intake.target import IntakeTarget

# Commands need few of these modules: each hook imports its own.


class IntakeHooks(JobHooks):
    """Files that are sent with `POST /api/jobs`, or named there as files of a source."""

    def __init__(self, target: Callable[[], IntakeTarget]) -> None:
        self._target = target

    async def submit_upload(
        self, request: Request, form: FormData, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        from forebay.intake import forms  # noqa: PLC0415

        target, state = self._target(), request.app.state
        upload = await forms.read(target, form, state.settings)
        return await forms.accept(target, state, who, idempotent, upload)

    async def submit_reference(
        self, request: Request, body: NewJob, who: Principal, idempotent: Idempotency
    ) -> Answer | None:
        from forebay.intake import references  # noqa: PLC0415

        return await references.accept(self._target(), request.app.state, who, idempotent, body)

    async def problem(self, conn: Connection, job_id: int) -> str | None:
        """Why the file was not received."""
        from forebay.intake import db  # noqa: PLC0415

        return await db.problem(conn, job_id)
