"""What administrators see of the installation: settings, findings of the doctor, limits and hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import SecretStr

from forebay.api.operations.doctor import Doctor
from forebay.hooks import Finding
from tests.api._service import Service, serving


async def get(service: Service, path: str, **query: Any) -> Any:
    async with service.client("root") as root:
        return (await root.get(path, params=query)).raise_for_status().json()


async def test_settings_have_their_origin_and_no_secrets(dsn: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("FOREBAY_MAX_OPEN_JOBS", "17")
    secret = "a-very-secret-signing-key-of-32-characters"
    given: dict[str, Any] = {"signing_key": SecretStr(secret), "storage_endpoint": "https://user:hidden@s3.example.org"}
    async with serving(dsn, **given) as service:
        answer = await get(service, "/api/settings")
    by_name = {row["variable"]: row for row in answer["settings"]}
    assert by_name["FOREBAY_MAX_OPEN_JOBS"]["value"] == 17
    assert by_name["FOREBAY_MAX_OPEN_JOBS"]["source"] == "environment"
    assert by_name["FOREBAY_MAX_OPEN_JOBS"]["default"] != 17
    assert by_name["FOREBAY_MAX_OPEN_JOBS"]["meaning"]
    key = by_name["FOREBAY_SIGNING_KEY"]
    assert (key["value"], key["isSecret"], key["default"]) == ("**********", True, None)
    assert by_name["FOREBAY_STORAGE_ENDPOINT"]["value"] == "https://**********@s3.example.org"
    assert {row["package"] for row in answer["settings"]} >= {None, "sheets"}
    assert secret not in str(answer)
    assert "hidden" not in str(answer)
    assert dsn.split(":")[2].split("@", maxsplit=1)[0] not in str(answer)  # the password of the database


async def test_the_findings_of_the_doctor_are_shared(service: Service) -> None:
    calls = 0

    async def examine() -> Sequence[Finding]:
        nonlocal calls
        calls += 1
        return [Finding("OK", "python", "3.13"), Finding("FAIL", "schema", "is old", "forebay migrate")]

    async with service.client("root") as root:
        missing = await root.get("/api/doctor")
        assert (missing.status_code, missing.json()["detail"]) == (404, "is not available here: run `forebay doctor`")
    service.app.state.doctor = Doctor(examine)
    report = await get(service, "/api/doctor")
    assert await get(service, "/api/doctor") == report
    assert calls == 1
    assert (report["ok"], report["findings"][1]) == (
        False,
        {"level": "FAIL", "about": "schema", "text": "is old", "fix": "forebay migrate"},
    )


async def test_limits_in_use_are_listed(service: Service) -> None:
    await service.admin.execute(
        """insert into forebay.rate_limit (name, key, next_at, waiting)
           values ('mails', '', now(), 3), ('forebay:host', 'example.org', now(), 0);
           insert into forebay.slot_limit (name, key, waiting, hold_s, seen_at)
           values ('downloads', 'a.example', 2, 1.5, now()), ('downloads', 'b.example', 0, 1, now()),
                  ('forebay:host', 'example.org', 1, 0.5, now()), ('forebay:host', 'example.com', 0, 0.5, now());
           insert into forebay.slot_lease (name, key, worker_id, slots, wanted, expires_at)
           values ('downloads', 'a.example', 1, 2, 3, now() + interval '1 minute'),
                  ('downloads', 'a.example', 2, 1, 1, now() + interval '1 minute'),
                  ('downloads', 'a.example', 3, 9, 9, now() - interval '1 minute'),
                  ('forebay:host', 'example.org', 1, 2, 2, now() + interval '1 minute')"""
    )
    first = await get(service, "/api/limits", pageSize=2)
    rest = await get(service, "/api/limits", after=first["next"])
    found = [*first["limits"], *rest["limits"]]
    assert [
        (row["name"], row["key"], row["waiting"], row["slots"], row["wanted"], row["workers"]) for row in found
    ] == [
        ("downloads", "a.example", 2, 3, 4, 2),
        ("downloads", "b.example", 0, 0, 0, 0),
        ("mails", "", 3, 0, 0, 0),
    ]
    assert (found[0]["startsAt"], found[2]["holdS"], found[2]["startsAt"] is None) == (None, None, False)
    await service.admin.execute(
        """insert into forebay.worker (name, started_at, seen_at, stats)
           values ('w1', now(), now(), '{"shared": {"hosts": {"known": 4, "busy": 1, "closed": 1, "running": 2,
             "waiting": 3, "most_waiting": 3, "longest_closed_s": 12.5, "longest_delay_s": 0, "throttled": 5}}}')"""
    )
    hosts = await get(service, "/api/hosts", pageSize=1)
    assert [row["host"] for row in hosts["hosts"]] == ["example.com"]
    assert [(worker["worker"], worker["known"], worker["throttled"]) for worker in hosts["workers"]] == [("w1", 4, 5)]
    more = await get(service, "/api/hosts", after=hosts["next"])
    assert [(row["host"], row["waiting"], row["slots"]) for row in more["hosts"]] == [("example.org", 1, 2)]
    assert (more["workers"], more["next"], more["shared"]) == ([], None, True)


async def test_only_administrators_see_the_installation(service: Service) -> None:
    async with service.client("ann") as ann:
        for path in ("settings", "doctor", "limits", "hosts"):
            assert (await ann.get(f"/api/{path}")).status_code == 403
