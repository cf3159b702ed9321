"""Errors as application/problem+json: what is wrong and in which field, without internal details."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from forebay.api.rejections import rejections
from forebay.db.pool import UNAVAILABLE
from forebay.errors import (
    Busy,
    ConfigError,
    ConflictError,
    DatabaseBusy,
    DatabaseUnavailable,
    InputTooLarge,
    NotFoundError,
    RequestError,
    SchemaError,
    one_line,
)
from forebay.log import get_logger, request_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fastapi import FastAPI, Request

log = get_logger("api")

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "X-Request-Id"
_STATUS: tuple[tuple[type[RequestError], int], ...] = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InputTooLarge, 413),
    (RequestError, 422),
)


class Problem(Exception):
    """An error that is answered as a problem."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        about: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail if field is None else f"{field}: {detail}"
        self.errors = [] if field is None else [{"field": field, "reason": detail}]
        self.headers = dict(headers or {})
        self.about = about  # the id of the row that it concerns


def answer(
    status: int,
    detail: str,
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    about: str | None = None,
) -> JSONResponse:
    """A problem as a response. It has the id of its request, under which the log has a line; those of 5xx are logged
    where they happen."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if errors:
        body["errors"] = list(errors)
    if about is not None:
        body["id"] = about
    if status == HTTPStatus.UNAUTHORIZED:
        body["signIn"] = "/sign-in"
    sent = dict(headers or {})
    if (request := request_id()) is not None:
        body["requestId"] = sent[REQUEST_ID] = request
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        rejections.add(status, detail)
    return JSONResponse(body, status, sent, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answers every error of these kinds in our own words."""
    for kind in _ANSWERS:
        app.add_exception_handler(kind, _answer_to)


async def _answer_to(request: Request, error: Exception) -> JSONResponse:
    return answer_to(request, error)  # a coroutine: Starlette would start a thread for a function


def answer_to(request: Request, error: Exception) -> JSONResponse:
    """The answer to an error of these kinds.

    Raises: the error itself, when it is of none of them.
    """
    for kind in type(error).__mro__:
        if kind in _ANSWERS:
            return _ANSWERS[kind](request, error)
    raise error


def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)  # noqa: S101 - it is registered for these
    return answer(error.status, error.detail, error.errors, error.headers, error.about)


def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - it is registered for these
    errors = [{"field": _place(one), "reason": _reason(one)} for one in error.errors()]
    return answer(422, f"{errors[0]['field']}: {errors[0]['reason']}", errors)


def _place(error: Mapping[str, Any]) -> str:
    """The place in the request: `items.3.url`, `query.pageSize`, or `body` for all of it."""
    if error["type"] == "json_invalid":  # the position in the text, not a field
        return "body"
    parts = [str(part) for part in error["loc"]] or ["body"]
    return ".".join(parts[1:] if parts[:1] == ["body"] and len(parts) > 1 else parts)


_OBJECT = "must be an object, as application/json"
_TIME = "must be a time, for example 2030-01-31T12:00:00Z"
_IN_OUR_WORDS = {
    "extra_forbidden": "there is no such field",
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
}


def _reason(error: Mapping[str, Any]) -> str:
    """What is wrong, in terms that do not depend on the implementation."""
    context: Mapping[str, Any] = error.get("ctx") or {}
    message: str = error["msg"]
    if error["type"] == "json_invalid":
        return f"is not JSON: {context.get('error')} (char {error['loc'][-1]})"
    if error["type"] == "string_pattern_mismatch" and "[0-9]{" in message:
        return "must be a number, as text"
    return _IN_OUR_WORDS.get(error["type"], message.removeprefix("Value error, "))


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    if isinstance(error.__cause__, ClientDisconnect):  # FastAPI reports it as an unreadable body
        raise error.__cause__
    detail = _NOWHERE.get(error.status_code, "{detail}")
    told = detail.format(method=request.method, path=request.url.path[:200], detail=error.detail)
    return answer(error.status_code, told, headers=error.headers)


_NOWHERE = {
    404: "there is nothing at {path}; see /api/docs",
    405: "there is no {method} of {path}; see /api/docs",
}


def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestError)  # noqa: S101 - it is registered for these
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    field = as_sent(error.field)
    return answer(status, f"{field}: {error.reason}", [{"field": field, "reason": error.reason}])


def as_sent(field: str) -> str:
    """A field as in the API: `runAt` for `run_at`; the rest of the path is unchanged."""
    return re.sub(r"^[a-z]+(?:_[a-z]+)+", lambda name: to_camel(name[0]), field)


def _busy(request: Request, error: Exception) -> JSONResponse:
    log.warning("request_refused", path=request.url.path, error=one_line(error))
    return answer(503, f"{one_line(error)}: try again later", headers={"Retry-After": "1"})


def _unavailable(request: Request, error: Exception) -> JSONResponse:
    log.error("request_failed", path=request.url.path, error=one_line(error))
    return answer(503, "the database is unavailable: try again later", headers={"Retry-After": "2"})


def _unconfigured(request: Request, error: Exception) -> JSONResponse:
    log.error("request_failed", path=request.url.path, error=one_line(error))
    return answer(503, "this is not configured here: `forebay doctor` shows what is missing")


_ANSWERS: dict[type[Any], Callable[[Request, Exception], JSONResponse]] = {
    Problem: _problem,
    RequestValidationError: _invalid,
    HTTPException: _http,
    RequestError: _refused,
    DatabaseBusy: _busy,
    Busy: _busy,
    ConfigError: _unconfigured,
    **dict.fromkeys((DatabaseUnavailable, SchemaError, *UNAVAILABLE), _unavailable),
}


def unexpected(path: str, error: Exception) -> JSONResponse:
    """The response to an unexpected error."""
    log.error("request_failed", path=path, exc_info=error)
    return answer(500, "internal error; it has been logged")
