"""What a submit's body holds: JSON with one item or many, or a form with a file of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from forebay.api import uploads
from forebay.api.models import NewJob, Submission, UploadedJob
from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import Request

S = TypeVar("S", bound=Submission)


async def read(request: Request, most: int) -> tuple[NewJob | UploadedJob, Iterable[Any] | None]:
    """The submission and its inputs: a list, the rows of a file, or None for the one item in `input`.

    Raises: Problem, or RequestValidationError that names the field.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _uploaded(request)
    if kind != "application/json":
        raise Problem(415, "send application/json, or multipart/form-data with a file")
    body = _checked(NewJob, await _json(request))
    _check_one_or_many(body, most)
    return body, body.items


async def _json(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise Problem(422, "the body is not JSON", field="body") from error


def _checked(kind: type[S], values: Any) -> S:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error


def _check_one_or_many(body: NewJob, most: int) -> None:
    if (body.items is None) == ("input" not in body.model_fields_set):
        raise Problem(422, "give either `input`, for one item, or `items`", field="input")
    if body.items is not None and not 1 <= len(body.items) <= most:
        raise Problem(422, f"must be 1 to {most} items; upload a file for more", field="items")
    if body.items is not None and body.coalesce:
        raise Problem(422, "is for one item only", field="coalesce")


async def _uploaded(request: Request) -> tuple[UploadedJob, Iterable[Any]]:
    form = await request.form(max_files=1, max_fields=20)
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, "must be a file: JSON Lines, or CSV with a header", field="file")
    values = {name: value for name, value in form.items() if name != "file"}
    body = _checked(UploadedJob, {**values, "file": file.filename or "upload"})
    return body, uploads.rows(file.file, file.filename or "", file.content_type or "")
