"""Problems: each has the id of its request, and so has the log."""

from __future__ import annotations

import logging

import pytest
from structlog.testing import capture_logs

from forebay.api.rejections import RejectionLog
from tests.api._service import Service


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/jobs/999", None, 404),
        ("POST", "/api/jobs", {"pipeline": "pages"}, 422),  # a direct route
        ("GET", "/api/no-such-place", None, 404),
        ("GET", "/api/jobs?pageSize=0", None, 422),
        ("POST", "/api/jobs/1/pause", "x" * (2 << 20), 413),  # rejected before any route
    ],
)
async def test_a_problem_and_its_line_in_the_log_have_the_id_of_the_request(
    service: Service, caplog: pytest.LogCaptureFixture, method: str, path: str, body: object, status: int
) -> None:
    caplog.set_level(logging.INFO, "forebay")
    async with service.client("ann") as client:
        answers = [await client.request(method, path, json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [status, status]
    first, second = [answer.json()["requestId"] for answer in answers]
    assert first != second
    assert [answer.headers["x-request-id"] for answer in answers] == [first, second]
    (line,) = [message for message in caplog.messages if first in message]
    assert line.startswith(f"request_rejected status={status}")
    assert f"method={method!r} path={path.partition('?')[0]!r}" in line


async def test_an_unexpected_error_is_found_in_the_log_by_its_id(
    service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("forebay.api.routes.preferences.db.preferences", fail)
    async with service.client("ann") as client:
        answer = await client.get("/api/me/preferences")
    assert answer.status_code == 500
    (line,) = [record for record in caplog.records if answer.json()["requestId"] in record.getMessage()]
    assert line.getMessage().startswith("request_failed")
    assert line.exc_info is not None
    assert "on purpose" in str(line.exc_info[1])


async def test_the_link_of_a_file_is_not_logged(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "forebay")
    async with service.client() as client:
        answer = await client.get("/files/whoever-knows-this-reads-the-file")
    assert answer.json()["requestId"] in caplog.text
    assert "whoever" not in caplog.text


def test_who_sends_many_bad_requests_does_not_fill_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("forebay.api.rejections.time.monotonic", lambda: now)
    rejections = RejectionLog()
    with capture_logs() as logs:
        for _ in range(250):
            rejections.add(404, "not there")
        now = 10.0
        rejections.add(404, "not there")
    assert [line["event"] for line in logs] == [
        *["request_rejected"] * 100,
        "rejections_not_logged",
        "request_rejected",
    ]
    assert logs[100]["requests"] == 150
