"""What Lark answers: events, forms and errors, of any shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import ConfigError, DataError, PermanentError, StepError, ThrottledError, TransientError
from forebay.pipelines.attachments.lark_errors import TokenRejected, answer_error
from forebay.pipelines.attachments.lark_events import read_event
from forebay.pipelines.attachments.lark_forms import read_form
from forebay.services.egress.errors import UrlNotFound

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["id", "name", "type", "value", "ext", "code", "event", "instance_code"]), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip


@given(VALUES)
def test_forms_and_events_of_any_shape(value: Any) -> None:
    form = read_form({"form": json.dumps(value), "approval_name": value, "status": value})
    assert {file.key for file in form.files} == set(form.addresses)
    assert all(each["value"] for each in form.facts)
    read_event(json.dumps(value).encode())


def test_a_form_with_rows_and_old_widgets() -> None:
    rows = [[{"id": "w9", "type": "image", "name": "Photo", "value": ["tok_aaaaaa"]}]]
    widgets = [
        {"id": "w1", "type": "fieldList", "name": "Items", "value": rows},
        {"id": "w2", "type": "attachmentV2", "name": "Files", "ext": "a,b.pdf", "value": ["tok_bbbbbb"]},
        {"id": "w3", "type": "attachmentV2", "name": "More", "ext": "x", "value": ["tok_c1", "tok_c2"]},
        {"id": "w4", "type": "contact", "name": "Who", "value": ["ou_1"]},
    ]
    form = read_form({"form": json.dumps(widgets), "approval_name": "Trip", "serial_number": 7})
    assert [file.name for file in form.files] == ["Photo 1", "a,b.pdf", "More 1", "More 2"]
    assert [*form.addresses.values()] == ["tok_aaaaaa", "tok_bbbbbb", "tok_c1", "tok_c2"]
    assert form.facts == [
        {"name": "Approval", "value": "Trip"},
        {"name": "Number", "value": "7"},
        {"name": "Who", "value": '["ou_1"]'},
    ]
    with pytest.raises(DataError, match="the form of the approval is not JSON"):
        read_form({"form": "{"})


def _error(status: int, code: int | None = None, headers: dict[str, str] | None = None) -> StepError | None:
    body = b"" if code is None else json.dumps({"code": code, "msg": "told"}).encode()
    return answer_error(status, headers or {}, body, "https://lark")


def test_errors() -> None:
    assert _error(200, 0) is None
    assert answer_error(200, {}, b"not json", "https://lark", is_content=True) is None
    throttled = _error(400, 99991400, {"x-ogw-ratelimit-reset": "7"})
    assert isinstance(throttled, ThrottledError)
    assert (str(throttled), throttled.retry_after) == ("https://lark is rate limiting us; retrying in 7 s", 7.0)
    again = _error(429, None, {"retry-after": "3"})
    assert isinstance(again, ThrottledError)
    assert again.retry_after == 3.0
    told: list[tuple[StepError | None, type[StepError], str]] = [
        (_error(400, 99991663), TokenRejected, "https://lark rejected the token (99991663)"),
        (_error(401), TokenRejected, "https://lark rejected the token (401)"),
        (_error(400, 99991672), ConfigError, "the Lark app lacks a permission (99991672): told"),
        (_error(400, 1061004), PermanentError, "https://lark answered 400 with code 1061004: told"),
        (_error(200, 5), PermanentError, "https://lark answered 200 with code 5: told"),
        (_error(404, 1061045), UrlNotFound, "https://lark answered 404 Not Found"),
        (_error(502, 1), TransientError, "https://lark answered 502 Bad Gateway"),
        (_error(200), TransientError, "https://lark sent an answer that is not JSON"),
    ]
    assert [(type(error), str(error)) for error, _, _ in told] == [(kind, text) for _, kind, text in told]
