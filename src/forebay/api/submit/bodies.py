"""Reads the body of a submit: JSON with one or many items, or a form with a file of items."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from forebay.api.middleware.guards import media_type
from forebay.api.models import NewJob, UploadedJob
from forebay.api.problems import Problem
from forebay.api.submit import row_files
from forebay.engine.submit.options import checked_text
from forebay.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastapi import Request
    from starlette.datastructures import FormData

M = TypeVar("M", bound=BaseModel)


def is_upload(request: Request) -> bool:
    return media_type(request.headers) == "multipart/form-data"


async def form(request: Request) -> FormData:
    """The form, read once; its uploads are on disk."""
    return await request.form(max_files=1, max_fields=20)


async def read(request: Request, most: int) -> tuple[NewJob | UploadedJob, Iterable[Any] | None]:
    """The submission and its inputs: a list, the rows of a file, or None for the single item in `input`.

    Raises: Problem, or RequestValidationError that names the field.
    """
    if is_upload(request):
        return await _uploaded(request)
    if media_type(request.headers) != "application/json":
        raise Problem(415, "send application/json, or multipart/form-data with a file")
    body = checked(NewJob, await _json(request))
    if body.file is None:
        _check_one_or_many(body, most)
    return body, body.items


async def _json(request: Request) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise Problem(422, _what_is_wrong(error), field="body") from error


def _what_is_wrong(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON: {error}"
    reason = "it is not UTF-8" if isinstance(error, UnicodeError) else "it has a number that is too long"
    return f"is not JSON: {reason}"


def checked(kind: type[M], values: Any) -> M:
    """Raises: RequestValidationError that names the field."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error


def _check_one_or_many(body: NewJob, most: int) -> None:
    if body.options is not None:
        raise Problem(422, "is only allowed with `file`", field="options")
    if (body.items is None) == ("input" not in body.model_fields_set):
        raise Problem(422, "send either `input`, for one item, or `items`", field="input")
    if body.items is not None and not 1 <= len(body.items) <= most:
        raise Problem(422, f"must be 1 to {most} items; upload a file for more", field="items")
    if body.items is not None and body.coalesce:
        raise Problem(422, "is only for one item", field="coalesce")
    if body.max_wait_seconds is not None and not body.coalesce:
        raise Problem(422, "is for coalesce only", field="maxWaitSeconds")


async def _uploaded(request: Request) -> tuple[UploadedJob, Iterable[Any]]:
    sent = await form(request)
    file = sent.get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, "must be a file: JSON Lines, or CSV with a header", field="file")
    values = {name: value for name, value in sent.items() if name != "file"}
    name = checked_text("file", (file.filename or "upload")[:500], 500)
    body = checked(UploadedJob, {**values, "file": name})
    return body, await asyncio.to_thread(row_files.rows, file.file, file.filename or "", file.content_type or "")


_INPUT = re.compile(r"inputs(?:\[(\d+)\])?\.?(.*)", re.DOTALL)


def in_callers_words(error: RequestError, body: NewJob | UploadedJob) -> RequestError:
    """The same error with the caller's path: one of `items`, or a row of the file."""
    found = _INPUT.fullmatch(error.field)
    if found is None:
        return error
    if isinstance(body, NewJob):
        return type(error)("items" + error.field.removeprefix("inputs"), error.reason)
    place = [] if found[1] is None else [f"row {int(found[1]) + 1}"]
    return type(error)("file", ": ".join([*place, *filter(None, [found[2]]), error.reason]))
