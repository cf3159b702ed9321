"""Owners: what they use, and what administrators set for them; and what is stored."""

from __future__ import annotations

from typing import Any

from forebay.db.pool import open_pool
from forebay.storage import db as files
from tests.api._service import Service, put_file


async def get(service: Service, who: str, path: str, **query: Any) -> Any:
    async with service.client(who) as client:
        return (await client.get(path, params=query)).raise_for_status().json()


async def count(service: Service) -> None:
    """What the chore does every hour."""
    async with await open_pool(service.dsn, size=1, name="forebay tests") as pool:
        await files.count(pool)


async def test_an_owner_sees_its_own_limits_and_use(service: Service) -> None:
    await put_file(service, "ann", b"12345", "a.txt")
    await put_file(service, "ann", b"12345", "same.txt")  # the same content
    await count(service)
    async with service.client("ann") as ann:
        await ann.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "a"}, {"title": "b"}]})
    ((own,), more) = (await get(service, "ann", "/api/owners")).values()
    assert (own["name"], own["weight"], more) == ("ann", 1.0, None)
    assert own["openJobs"] == {"most": service.app.state.settings.max_open_jobs, "isDefault": True, "used": 1}
    assert (own["openItems"]["used"], own["submitsPerMinute"]["used"]) == (2, None)
    assert (own["storedFiles"], own["storedBytes"]) == (2, 5)
    async with service.client("ann") as ann:
        assert (await ann.get("/api/owners?userId=all")).status_code == 403


async def test_administrators_change_weights_and_limits(service: Service) -> None:
    async with service.client("root") as root:
        changed = (
            (await root.patch("/api/owners/ann", json={"weight": 2.5, "maxOpenJobs": 7})).raise_for_status().json()
        )
        assert (changed["weight"], changed["openJobs"]["most"], changed["openJobs"]["isDefault"]) == (2.5, 7, False)
        kept = (await root.patch("/api/owners/ann", json={"maxOpenItems": 0})).json()
        assert (kept["openJobs"]["most"], kept["openItems"]["most"]) == (7, 0)
        default = (await root.patch("/api/owners/ann", json={"maxOpenJobs": None})).json()
        assert default["openJobs"]["isDefault"] is True
        unknown = await root.patch("/api/owners/zoe", json={"weight": 2})
        assert (unknown.status_code, unknown.json()["detail"]) == (404, "owner: there is no owner 'zoe'")
        wrong = await root.patch("/api/owners/ann", json={"weight": 0})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "weight")
        first = (await root.get("/api/owners?userId=all&pageSize=2")).json()
        rest = (await root.get("/api/owners", params={"userId": "all", "after": first["next"]})).json()
        assert [owner["name"] for owner in (*first["owners"], *rest["owners"])] == ["ann", "bob", "root"]
        named = (await root.get("/api/owners?userId=all&prefix=b")).json()
        assert [owner["name"] for owner in named["owners"]] == ["bob"]
    audit = await service.admin.fetch(
        "select action, actor from forebay.audit where action like 'set_owner%' order by id"
    )
    assert [(row["action"], row["actor"]) for row in audit] == [
        ("set_owner_weight", "root"),
        ("set_owner_limits", "root"),
        ("set_owner_limits", "root"),
        ("set_owner_limits", "root"),
    ]
    async with service.client("ann") as ann:
        refused = await ann.patch("/api/owners/ann", json={"weight": 100})
    assert refused.status_code == 403


async def test_what_is_stored_is_counted_by_a_chore(service: Service) -> None:
    assert await get(service, "root", "/api/storage", userId="all") == {"countedAt": None, "totals": None, "owners": []}
    await put_file(service, "ann", b"text", "a.txt", "text/plain")
    await put_file(service, "ann", b"%PDF-1", "a.pdf", "application/pdf")
    await put_file(service, "bob", b"a longer text", "b.txt", "text/plain")
    await count(service)
    seen = await get(service, "ann", "/api/storage")
    assert (seen["totals"], seen["countedAt"] is None) == (None, False)
    kinds = [
        {"kind": "application/pdf", "files": 1, "bytes": 6},
        {"kind": "text", "files": 1, "bytes": 4},
    ]
    assert seen["owners"] == [{"owner": "ann", "files": 2, "bytes": 10, "kinds": kinds}]
    seen = await get(service, "root", "/api/storage", userId="all")
    assert [(owner["owner"], owner["bytes"]) for owner in seen["owners"]] == [("bob", 13), ("ann", 10)]
    assert (seen["totals"]["blobs"], seen["totals"]["bytes"], seen["totals"]["waste"]) == (3, 23, 0)
    await count(service)  # replaces the numbers
    assert (await get(service, "root", "/api/storage", userId="all"))["totals"]["blobs"] == 3
