"""Where requests come from, when they come through a proxy."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.api._service import serving

CLAIMED = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}


@pytest.mark.parametrize(
    ("trusted", "address", "expected"),
    [
        ("", "10.0.0.5", "10.0.0.5"),
        ("10.0.0.5", "10.0.0.5", "203.0.113.9"),
        ("10.0.0.0/24, 192.0.2.1", "10.0.0.9", "203.0.113.9"),
        ("10.0.0.5", "10.0.0.6", "10.0.0.6"),
    ],
)
async def test_only_trusted_proxies_are_believed(dsn: str, trusted: str, address: str, expected: str) -> None:
    async with serving(dsn, trusted_proxies=trusted) as service, service.client("ann", ip=address) as client:
        with capture_logs() as logs:
            for headers in ({}, CLAIMED, CLAIMED):
                body = {"pipeline": "pages", "input": {"title": "x"}}
                assert (await client.post("/api/jobs", json=body, headers=headers)).status_code == 201
        jobs = (await client.get("/api/jobs")).json()["jobs"]
        async with service.client("root") as prometheus:
            metrics = (await prometheus.get("/metrics")).text.splitlines()
    assert [job["ip"] for job in jobs] == [expected, expected, address]
    is_ignored = expected == address
    assert f"forebay_api_forwarded_ignored_total {2.0 if is_ignored else 0.0}" in metrics
    told = [line for line in logs if line["event"] == "forwarded_header_ignored"]  # once, not each time
    assert [(line["by"], line["setting"]) for line in told] == [(address, "FOREBAY_TRUSTED_PROXIES")] * is_ignored


async def test_who_makes_headers_up_does_not_fill_the_log(dsn: str) -> None:
    async with serving(dsn) as service:
        with capture_logs() as logs:
            for number in range(150):
                async with service.client(ip=f"198.51.100.{number}") as client:
                    await client.get("/healthz", headers=CLAIMED)
    assert len([line for line in logs if line["event"] == "forwarded_header_ignored"]) == 100
