"""Sources of files at the API: who sees them, looking through them at once, and one of their files by its path."""

# demands: S5-74, S5-83, S5-88

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from forebay.engine.declare.pipeline import Pipeline
from forebay.pipelines.sheets.intake import sheet_intake, sheet_scans
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.steps import sheet_images
from forebay.pipelines.sheets.steps import sheets as sheet_rows
from forebay.testing import testbed
from tests.api._service import Service, serving

PIPELINES: list[Pipeline[Any]] = [sheet_intake, sheet_rows, sheet_images, sheet_scans]

SOURCE = """
name = "{name}"
url = "file://{folder}"
owner = "{owner}"
patterns = ["*.csv"]
settle_s = 0
"""


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, owner in (("drop", "ann"), ("till", "bob")):
        (tmp_path / name).mkdir()
        declared = SOURCE.format(name=name, folder=tmp_path / name, owner=owner)
        (sources / f"{name}.toml").write_text(declared)
    (tmp_path / "drop" / "a.csv").write_bytes(b"Name\nPen\nInk\n")
    given = SheetsSettings(sources=sources, roots=str(tmp_path))
    async with serving(dsn, *PIPELINES, packages=[given], data_dir=tmp_path / "data") as running:
        yield running


async def work(service: Service) -> None:
    async with testbed(service.dsn, PIPELINES, migrated=True, settings=service.app.state.settings) as bed:
        await bed.finish()


async def names(service: Service, who: str) -> list[str]:
    async with service.client(who) as client:
        found = (await client.get("/api/ingestion/sources")).json()["sources"]
    return [source["name"] for source in found]


async def test_sources_are_seen_by_those_whose_files_they_bring(service: Service) -> None:
    assert [await names(service, who) for who in ("ann", "bob", "root", "service")] == [
        ["drop"], ["till"], ["drop", "till"], ["drop"],
    ]  # fmt: skip
    async with service.client("ann") as ann:
        assert (await ann.get("/api/ingestion/sources")).json()["sources"] == [
            {
                "name": "drop", "kind": "file", "owner": "ann", "patterns": ["*.csv"], "recursive": False,
                "schedule": None, "timezone": "UTC", "after": "keep",
            }
        ]  # fmt: skip


async def test_scans_are_for_whoever_sees_the_source(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob, service.client("root") as root:
        hidden = await bob.post("/api/ingestion/scan", json={"source": "drop"})
        assert (hidden.status_code, hidden.json()["detail"]) == (404, "source: there is no source 'drop'")
        once = {"idempotency-key": "k"}
        begun = [await ann.post("/api/ingestion/scan", json={"source": "drop"}, headers=once) for _ in range(2)]
        assert [answer.status_code for answer in begun] == [202, 202]
        assert begun[0].json() == begun[1].json()
        everywhere = await root.post("/api/ingestion/scan", json={})
        assert [scan["source"] for scan in everywhere.json()["scans"]] == ["drop", "till"]
        await work(service)
        (sheet,) = (await ann.get("/api/sheets")).json()["sheets"]
        assert (sheet["name"], sheet["source"], sheet["counters"]["total"]) == ("a.csv", "drop", 2)
        (job,) = begun[0].json()["scans"]
        assert (await ann.get(f"/api/jobs/{job['jobId']}")).json()["state"] == "DONE"
        assert (await bob.get("/api/sheets")).json()["sheets"] == []
    jobs = await service.admin.fetch(
        """select o.name, count(*) from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id
           join forebay.owner o on o.id = j.owner_id where p.name = 'sheet_scans' group by o.name order by o.name"""
    )
    assert [tuple(row) for row in jobs] == [("ann", 2), ("bob", 1)]


async def test_a_source_that_is_declared_wrongly_hides_no_other(service: Service, tmp_path: Path) -> None:
    (tmp_path / "sources" / "bad.toml").write_text('name = "bad"\nowner = "ann"\n')
    assert await names(service, "ann") == ["drop"]
    async with service.client("ann") as ann, service.client("bob") as bob, service.client("root") as root:
        assert (await ann.post("/api/ingestion/scan", json={})).status_code == 202
        asked = [await client.post("/api/ingestion/scan", json={"source": "bad"}) for client in (ann, bob, root)]
    assert [answer.status_code for answer in asked] == [503, 404, 503]
    assert asked[0].json()["detail"] == "this is not configured here: `forebay doctor` shows what is missing"


async def test_a_file_of_a_source_by_its_path(service: Service) -> None:
    async with service.client("ann") as ann, service.client("root") as root:
        asked: dict[str, Any] = {"pipeline": "sheets", "file": "drop:a.csv", "options": {"columns": {"title": "Name"}}}
        made = await ann.post("/api/jobs", json={**asked, "key": "march"})
        again = await ann.post("/api/jobs", json={**asked, "key": "march"})
        assert (made.status_code, again.status_code, again.json()["created"]) == (201, 200, False)
        assert made.json()["jobId"] == again.json()["jobId"]
        theirs = await root.post("/api/jobs", json=asked)
        missing = await ann.post("/api/jobs", json={**asked, "file": "drop:b.csv"})
        await work(service)
        seen = (await ann.get(f"/api/sheets/{made.json()['jobId']}")).json()
        assert (seen["source"], seen["path"], seen["mapping"]) == ("drop", "a.csv", {"title": "Name"})
        assert (await ann.get(f"/api/jobs/{made.json()['jobId']}")).json()["counters"]["total"] == 2
        # An administrator's word brings the file to its owner.
        assert (await ann.get(f"/api/jobs/{theirs.json()['jobId']}")).json()["counters"]["total"] == 2
        assert (await ann.get(f"/api/sheets/{missing.json()['jobId']}")).json()["problem"] == (
            "there is no b.csv in the source drop, or it is still being written"
        )


_NAMES_A_FILE = "names a file of a source, as drop:march.csv, and goes without `input` and `items`"
_NOT_FOR_FILES = "is not supported for files; leave it out"
_KEYED = {"pipeline": "sheets", "file": "drop:a.csv", "key": "march"}
_NO_FILES = "pipeline 'pages' takes no files of sources: send `input` or `items`"


@pytest.mark.parametrize(
    ("body", "status", "field", "reason"),
    [
        ({"pipeline": "pages", "file": "drop:a.csv"}, 422, "file", _NO_FILES),
        ({"pipeline": "sheets", "file": "a.csv"}, 422, "file", _NAMES_A_FILE),
        ({"pipeline": "sheets", "file": "drop:a.csv", "input": {}}, 422, "file", _NAMES_A_FILE),
        ({"pipeline": "sheets", "file": "drop:a.csv", "items": [{}]}, 422, "file", _NAMES_A_FILE),
        ({**_KEYED, "unique": {"states": ["QUEUED"]}}, 422, "unique", _NOT_FOR_FILES),
        ({**_KEYED, "coalesce": True}, 422, "coalesce", _NOT_FOR_FILES),
        ({**_KEYED, "maxWaitSeconds": 1}, 422, "maxWaitSeconds", _NOT_FOR_FILES),
        ({"pipeline": "sheets", "file": "till:a.csv"}, 404, "source", "there is no source 'till'"),
        ({"pipeline": "pages", "input": {"title": "x"}, "options": {}}, 422, "options", "is only allowed with `file`"),
        (
            {"pipeline": "sheets", "file": "drop:a.csv", "options": {"providers": ["nope"]}},
            422,
            "options.providers",
            "there is no provider 'nope'; the providers are catalogue",
        ),
    ],
    ids=["pipeline", "path", "input", "items", "unique", "coalesce", "max wait", "not ann's", "options", "providers"],
)
async def test_what_cannot_be_asked_for(
    service: Service, body: dict[str, Any], status: int, field: str, reason: str
) -> None:
    async with service.client("ann") as ann:
        answer = await ann.post("/api/jobs", json=body)
    assert (answer.status_code, answer.json()["errors"]) == (status, [{"field": field, "reason": reason}])
    assert await service.admin.fetchval("select count(*) from forebay.job") == 0


async def test_sources_can_be_switched_off(dsn: str, tmp_path: Path) -> None:
    off = SheetsSettings(enabled=False)
    async with serving(dsn, packages=[off], data_dir=tmp_path) as service, service.client("ann") as ann:
        answer = await ann.get("/api/ingestion/sources")
        assert (answer.status_code, answer.json()["detail"]) == (404, "is switched off here: FOREBAY_SHEETS_ENABLED")
