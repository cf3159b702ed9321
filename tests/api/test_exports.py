"""The grid of a sheet and its exports, as their owner, another, and an administrator get them."""

# demands: S5-05, S5-09, S5-82, S5-85

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest

from forebay.engine.db import registry
from forebay.pipelines.sheets.db import grid
from forebay.pipelines.sheets.exports import sheet_exports
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.testing import testbed
from tests.api._service import Service, serving
from tests.pipelines._sheets import OURS, Line, add_sheet, csv_cells, jsonl_cells, xlsx_cells

STATUSES = ["DONE", "NOT_FOUND", "ERROR", "SKIPPED", "PENDING"]


@pytest.fixture
async def sheets(dsn: str) -> AsyncIterator[Service]:
    async with serving(dsn, sheet_exports) as service:
        yield service


async def work(service: Service) -> None:
    async with testbed(service.dsn, [sheet_exports], migrated=True, settings=service.app.state.settings) as bed:
        await bed.finish()


async def a_sheet(service: Service, rows: int = 10, owner: str = "ann") -> int:
    lines = [
        Line({"Name": f"=thing {n}", "EAN": str(n)}, {"title": f"Thing {n}", "score": n / 8}, STATUSES[n % 5])
        for n in range(rows)
    ]
    return await add_sheet(service.admin, ["Name", "EAN"], lines, owner=owner)


async def grid_of(caller: httpx.AsyncClient, job: int, **query: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """All pages of a grid."""
    rows: list[dict[str, Any]] = []
    while True:
        page = (await caller.get(f"/api/jobs/{job}/grid", params=query)).raise_for_status().json()
        rows += page["rows"]
        if page["next"] is None:
            return page["columns"], rows
        query["after"] = page["next"]


async def exported(service: Service, caller: httpx.AsyncClient, job: int, **query: Any) -> tuple[dict[str, Any], bytes]:
    answer = await caller.post(f"/api/jobs/{job}/export", params=query)
    assert answer.status_code == 202, answer.text
    await work(service)
    export = (await caller.get(f"/api/exports/{answer.json()['exportId']}")).raise_for_status().json()
    async with service.client() as anyone:
        return export, (await anyone.get(export["url"])).raise_for_status().content


async def test_an_owner_has_a_limited_number_of_open_exports(dsn: str) -> None:
    limit = SheetsSettings(max_open_exports=2)
    async with serving(dsn, sheet_exports, packages=[limit]) as sheets:
        job, theirs = await a_sheet(sheets), await a_sheet(sheets, owner="bob")
        async with sheets.client("ann") as ann, sheets.client("bob") as bob, sheets.client("root") as root:
            for caller in (ann, root):  # an export of an administrator counts for the owner of the sheet
                assert (await caller.post(f"/api/jobs/{job}/export")).status_code == 202
            refused = await ann.post(f"/api/jobs/{job}/export")
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
            assert refused.json()["detail"] == (
                "2 exports have not ended yet, and no more are allowed (FOREBAY_SHEETS_MAX_OPEN_EXPORTS): wait until "
                "one is written, or cancel one"
            )
            first, second = (await ann.get(f"/api/jobs/{job}/exports")).json()["exports"]  # the third was taken back
            assert (await bob.post(f"/api/jobs/{theirs}/export")).status_code == 202
            await ann.post(f"/api/jobs/{first['exportId']}/cancel")
            assert (await ann.post(f"/api/jobs/{job}/export")).status_code == 202
            assert second["state"] == "QUEUED"


async def test_the_grid_in_pages(sheets: Service) -> None:
    job = await a_sheet(sheets)
    async with sheets.client("ann") as ann:
        columns, rows = await grid_of(ann, job, pageSize=3)
        _, wrong = await grid_of(ann, job, pageSize=2, statuses="ERROR,NOT_FOUND")
    assert columns == ["Line", "Status", "Name", "EAN", *OURS]
    assert [row["id"] for row in rows] == [str(n) for n in range(1, 11)]
    assert rows[2] == {
        "id": "3",
        "status": "ERROR",
        "cells": ["4", "ERROR", "=thing 2", "2", "Thing 2", *[None] * 11, "0.25", None, None],
    }
    assert wrong == [row for row in rows if row["status"] in ("ERROR", "NOT_FOUND")]


async def test_any_row_is_in_reach_by_its_number(sheets: Service) -> None:
    """Numbers have no gaps, also where rows with the same key were left out: see the intake's test of keys."""
    job = await a_sheet(sheets, 50)
    async with sheets.client("ann") as ann, sheets.client("bob") as bob:
        page = (await ann.get(f"/api/jobs/{job}/grid", params={"from": 48, "pageSize": 2})).json()
        assert ([row["id"] for row in page["rows"]], page["total"], page["searchedTo"]) == (["48", "49"], 50, None)
        last = (await ann.get(f"/api/jobs/{job}/grid", params={"after": page["next"]})).json()
        assert ([row["id"] for row in last["rows"]], last["next"]) == (["50"], None)
        behind = (await ann.get(f"/api/jobs/{job}/grid", params={"from": 51})).json()
        assert (behind["rows"], behind["next"], behind["total"]) == ([], None, 50)
        both = await ann.get(f"/api/jobs/{job}/grid", params={"from": 3, "after": page["next"]})
        assert both.json()["errors"] == [{"field": "query.from", "reason": "cannot be combined with `after`"}]
        assert (await bob.get(f"/api/jobs/{job}/grid", params={"from": 48})).status_code == 404


async def test_the_grid_is_read_backward(sheets: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "_SEARCHED", 10)
    job = await a_sheet(sheets, 30)
    async with sheets.client("ann") as ann:

        async def back(**query: Any) -> tuple[list[str], int | None, int | None]:
            page = (await ann.get(f"/api/jobs/{job}/grid", params={"pageSize": 2, **query})).raise_for_status().json()
            assert page["next"] is None
            return [row["id"] for row in page["rows"]], page["previous"], page["searchedTo"]

        assert await back(before=10) == (["8", "9"], 8, None)
        assert await back(before=3) == (["1", "2"], None, None)
        assert await back(before=10, statuses="ERROR,NOT_FOUND") == (["7", "8"], 7, None)
        assert await back(before=7, statuses="ERROR,NOT_FOUND") == (["2", "3"], None, None)
        assert await back(before=31, q="thing 2") == (["29", "30"], 29, 29)  # the nearest of those among ten
        assert await back(before=21, q="thing 2", pageSize=1) == ([], 11, 11)
        assert await back(before=11, q="thing 2", pageSize=1) == (["3"], None, 1)
        both = await ann.get(f"/api/jobs/{job}/grid", params={"from": 3, "before": 9})
        reason = "cannot be combined with `after` or `from`"
        assert both.json()["errors"] == [{"field": "query.before", "reason": reason}]


async def test_selected_rows_are_exported(sheets: Service) -> None:
    job = await a_sheet(sheets, 30)
    async with sheets.client("ann") as ann:
        _, data = await exported(sheets, ann, job, rows="9,3-5,5,28-99,2")
        assert [int(row[0]) - 1 for row in csv_cells(data)[1:]] == [2, 3, 4, 5, 9, 28, 29, 30]
        _, wrong = await exported(sheets, ann, job, rows="1-10", statuses="ERROR")
        assert [int(row[0]) - 1 for row in csv_cells(wrong)[1:]] == [3, 8]
        turned = await ann.post(f"/api/jobs/{job}/export", params={"rows": "9-3"})
        assert turned.json()["errors"] == [{"field": "query.rows", "reason": "the range 9-3 ends before it begins"}]
        both = await ann.post(f"/api/jobs/{job}/export", params={"rows": "9", "from": 3})
        assert both.json()["errors"] == [{"field": "query.rows", "reason": "cannot be combined with `from` or `to`"}]
        assert (await ann.post(f"/api/jobs/{job}/export", params={"rows": "1;2"})).status_code == 422


async def test_columns_say_where_they_come_from(sheets: Service) -> None:
    job = await a_sheet(sheets, 1)
    mapping = '{"fields": {"title": "Name", "price": "EAN"}}'
    await sheets.admin.execute("update forebay.sheet set mapping = $2 where job_id = $1", job, mapping)
    async with sheets.client("ann") as ann:
        page = (await ann.get(f"/api/jobs/{job}/grid", params={"show": "read,warnings"})).json()
    details = page["columnDetails"]
    assert [column["title"] for column in details] == page["columns"]
    known = {column["key"]: (column["kind"], column["type"]) for column in details}
    assert len(known) == len(details)
    assert known | {
        "line": ("meta", "number"), "status": ("meta", "status"), "warnings": ("meta", "text"),
        "error": ("meta", "text"),
        "own:Name": ("own", "text"), "own:EAN": ("own", "number"), "read:price": ("read", "number"),
        "found:url": ("found", "link"), "found:image": ("found", "image"), "found:score": ("found", "score"),
        "found:provider": ("found", "text"),
    } == known  # fmt: skip


async def test_a_text_is_searched_in_the_cells(sheets: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "_SEARCHED", 10)
    job = await a_sheet(sheets, 30)
    async with sheets.client("ann") as ann, sheets.client("bob") as bob:

        async def searched(**query: Any) -> tuple[list[str], int, bool]:
            page = (await ann.get(f"/api/jobs/{job}/grid", params={"pageSize": 8, **query})).raise_for_status().json()
            return [row["id"] for row in page["rows"]], page["searchedTo"], page["next"] is None

        assert await searched(q="THING 2", pageSize=1) == (["3"], 10, False)  # in "Thing 2"; no other among ten
        assert await searched(q="thing 2", **{"from": 15}) == (["21", "22", "23", "24"], 24, False)
        assert await searched(q="thing 2", pageSize=2, **{"from": 15}) == (["21", "22"], 22, False)
        assert await searched(q="thing 2", **{"from": 25}) == (["25", "26", "27", "28", "29", "30"], 30, True)
        assert await searched(q="thing", statuses="ERROR", **{"from": 20}) == (["23", "28"], 30, True)
        assert await searched(q="done") == ([], 10, False)  # the status is no cell of the file
        assert (await searched(q="100%"))[0] == []
        wrong = await ann.get(f"/api/jobs/{job}/grid", params={"q": "a\0"})
        assert wrong.json()["errors"] == [{"field": "query.q", "reason": "must not contain a NUL character"}]
        assert (await bob.get(f"/api/jobs/{job}/grid", params={"q": "thing"})).status_code == 404


async def test_the_jobs_of_a_sheet_name_it(sheets: Service) -> None:
    job = await a_sheet(sheets)
    await registry.register(sheets.admin, sheet_intake.definition())
    async with sheets.client("ann") as ann, sheets.client("bob") as bob:
        export = (await ann.post(f"/api/jobs/{job}/export")).json()["exportId"]
        receiving = await sheets.admin.fetchval(
            "select job_id from forebay.open_job('sheet_intake', 'ann', null, 0, 1, true, null, clock_timestamp())"
        )
        await sheets.admin.execute(
            """insert into forebay.item (job_id, n, owner_id, pipeline_id, input)
               select j.id, 1, j.owner_id, j.pipeline_id, jsonb_build_object('reference', s.id)
               from forebay.job j, forebay.sheet s where j.id = $1""",
            receiving,
        )
        found = {each["pipeline"]: each for each in (await ann.get("/api/jobs")).json()["jobs"]}
        assert (await bob.get("/api/jobs")).json()["jobs"] == []
    name = await sheets.admin.fetchval("select name from forebay.sheet")
    assert found["sheet_exports"]["id"] == export
    for pipeline, parent in (("sheets", None), ("sheet_exports", str(job)), ("sheet_intake", str(job))):
        assert found[pipeline]["subject"] == {"kind": "sheet", "id": str(job), "title": name}
        assert found[pipeline]["parentId"] == parent


async def test_what_a_worker_has_is_being_processed(sheets: Service) -> None:
    job = await a_sheet(sheets)
    await sheets.admin.execute(
        """insert into forebay.lease (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at,
                                      ns)
           select 1, 1, j.id, j.owner_id, 1, 1, now(), now() + interval '1 hour', '{[5,5]}'
           from forebay.job j where j.id = $1""",
        job,
    )
    async with sheets.client("ann") as ann:
        _, rows = await grid_of(ann, job, statuses="PROCESSING")
        _, data = await exported(sheets, ann, job, statuses="PROCESSING")
    assert [(row["id"], row["cells"][1]) for row in rows] == [("5", "PROCESSING")]
    assert [row[:3] for row in csv_cells(data)[1:]] == [["6", "PROCESSING", "=thing 4"]]


async def test_every_format_has_the_cells_of_the_pages(sheets: Service) -> None:
    job = await a_sheet(sheets, 25)
    async with sheets.client("ann") as ann:
        columns, rows = await grid_of(ann, job, pageSize=7)
        shown = [columns, *([cell or "" for cell in row["cells"]] for row in rows)]
        told, data = await exported(sheets, ann, job)
        assert csv_cells(data) == shown
        assert b"'=thing" in data
        assert (told["state"], told["progress"], told["rows"], told["bytes"]) == ("DONE", 1.0, 25, len(data))
        assert (told["format"], told["jobId"], told["cut"], told["error"]) == ("csv", str(job), 0, None)
        _, data = await exported(sheets, ann, job, raw="true")
        assert csv_cells(data, raw=True) == shown
        assert b"'" not in data
        _, data = await exported(sheets, ann, job, format="xlsx")
        assert xlsx_cells(data) == shown
        _, data = await exported(sheets, ann, job, format="jsonl")
        assert jsonl_cells(data) == [dict(zip(columns, row["cells"], strict=True)) for row in rows]
        listed = (await ann.get(f"/api/jobs/{job}/exports", params={"pageSize": 3})).json()
        assert [each["format"] for each in listed["exports"]] == ["jsonl", "xlsx", "csv"]
        more = (await ann.get(f"/api/jobs/{job}/exports", params={"pageSize": 3, "after": listed["next"]})).json()
        assert ([each["format"] for each in more["exports"]], more["next"]) == (["csv"], None)
        assert (more["exports"][0]["options"], listed["exports"][2]["options"]) == ({}, {"raw": True})


async def test_a_part_of_the_grid(sheets: Service) -> None:
    job = await a_sheet(sheets, 20)
    async with sheets.client("ann") as ann:
        told, data = await exported(sheets, ann, job, statuses="ERROR,PENDING", **{"from": 4, "to": 13})
        assert [row[0] for row in csv_cells(data)[1:]] == ["6", "9", "11", "14"]
        assert told["rows"] == 4
        wrong = await ann.post(f"/api/jobs/{job}/export", params={"from": 5, "to": 4})
    assert (wrong.status_code, wrong.json()["errors"]) == (
        422,
        [{"field": "query.to", "reason": "must not be before `from`"}],
    )


async def test_columns_to_choose(sheets: Service) -> None:
    read = {"fields": {"price": "1.50"}, "problems": [{"field": "gtin", "reason": "is no GTIN", "column": "EAN"}]}
    job = await add_sheet(sheets.admin, ["EAN"], [Line({"EAN": "1"}, read=read)])
    async with sheets.client("ann") as ann:
        columns, rows = await grid_of(ann, job, show="read,warnings")
        told, data = await exported(sheets, ann, job, show="read,warnings")
        assert csv_cells(data) == [columns, [cell or "" for cell in rows[0]["cells"]]]
        assert told["options"] == {"show": ["read", "warnings"]}
        refused = [
            await ann.get(f"/api/jobs/{job}/grid", params={"show": "read,all"}),
            await ann.post(f"/api/jobs/{job}/export", params={"show": "read,all"}),
        ]
    shown = dict(zip(columns, rows[0]["cells"], strict=True))
    assert (shown["Read price"], shown["Warnings"]) == ("1.50", "EAN: is no GTIN")
    reason = "there is no group of columns 'all'; there are read, warnings"
    for answer in refused:
        assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": "query.show", "reason": reason}])


async def test_groups_of_columns_that_sql_does_not_know(sheets: Service) -> None:
    job = await add_sheet(sheets.admin, ["EAN"], [])
    reason = "show: names groups of columns, separated by commas: read, warnings"
    with pytest.raises(Exception, match=reason):
        await sheets.admin.fetch("select * from forebay.grid_columns($1, '{all}')", job)


async def test_an_empty_grid(sheets: Service) -> None:
    job = await a_sheet(sheets, 0)
    async with sheets.client("ann") as ann:
        assert await grid_of(ann, job) == (["Line", "Status", "Name", "EAN", *OURS], [])
        told, data = await exported(sheets, ann, job)
        assert csv_cells(data) == [["Line", "Status", "Name", "EAN", *OURS]]
        assert told["rows"] == 0
        assert (await exported(sheets, ann, job, format="jsonl"))[1] == b""
        assert xlsx_cells((await exported(sheets, ann, job, format="xlsx"))[1]) == csv_cells(data)


async def test_the_same_request_is_done_once(sheets: Service) -> None:
    job = await a_sheet(sheets)
    async with sheets.client("ann", **{"idempotency-key": "k"}) as ann:
        answers = [await ann.post(f"/api/jobs/{job}/export") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [202, 202]
        assert answers[0].json() == answers[1].json()
        assert len((await ann.get(f"/api/jobs/{job}/exports")).json()["exports"]) == 1
        assert answers[0].json()["state"] == "QUEUED"
        waiting = (await ann.get(f"/api/exports/{answers[0].json()['exportId']}")).json()
    assert (waiting["state"], waiting["url"], waiting["rows"], waiting["fileId"]) == ("QUEUED", None, None, None)


async def test_others_see_nothing_and_administrators_all(sheets: Service) -> None:
    job = await a_sheet(sheets)
    async with sheets.client("bob") as bob, sheets.client("root") as root, sheets.client("ann") as ann:
        for path in ("grid", "exports"):
            assert (await bob.get(f"/api/jobs/{job}/{path}")).status_code == 404
        refused = await bob.post(f"/api/jobs/{job}/export")
        assert (refused.status_code, refused.json()["detail"]) == (404, f"job: there is no job {job}")
        told, data = await exported(sheets, root, job)
        assert len(csv_cells(data)) == 11
        # What an administrator has had written is the owner's, as the sheet is.
        assert (await ann.get(f"/api/exports/{told['exportId']}")).json()["fileId"] == told["fileId"]
        answer = await bob.get(f"/api/exports/{told['exportId']}")
        assert (answer.status_code, answer.json()["detail"]) == (404, f"export: there is no export {told['exportId']}")
        assert (await bob.get(f"/api/files/{told['fileId']}")).status_code == 404


async def test_a_job_without_a_sheet_has_no_grid(sheets: Service) -> None:
    async with sheets.client("ann") as ann:
        job = (await ann.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "x"}})).json()["jobId"]
        for answer in (await ann.get(f"/api/jobs/{job}/grid"), await ann.post(f"/api/jobs/{job}/export")):
            assert answer.status_code == 409
            told = f"job {job} is not made of a sheet, so it has no grid: `forebay export {job}` writes its items"
            assert answer.json()["detail"] == f"job: {told}"
        assert (await ann.get("/api/jobs/999/grid")).status_code == 404


async def test_the_database_guards_grids_itself(sheets: Service) -> None:
    """Whatever a route would ask for: with the rights of another owner nothing of it is seen."""
    job = await a_sheet(sheets)
    bob = await sheets.admin.fetchval("select id from forebay.owner where name = 'bob'")
    async with sheets.admin.transaction():
        await sheets.admin.execute("select forebay.enter('forebay_api', $1, null)", bob)
        assert await sheets.admin.fetchval("select count(*) from forebay.sheet") == 0
        assert await sheets.admin.fetchval("select count(*) from forebay.sheet_export") == 0
        with pytest.raises(asyncpg.PostgresError, match=f"there is no job {job}"):
            async with sheets.admin.transaction():
                await sheets.admin.fetch("select * from forebay.grid_rows($1, '{1,2,3}')", job)


async def test_nobody_waits_for_an_export(sheets: Service) -> None:
    """Many at once are queued, each with an id of its own."""
    job = await a_sheet(sheets)
    async with sheets.client("ann") as ann:
        answers = await asyncio.gather(*(ann.post(f"/api/jobs/{job}/export") for _ in range(5)))
        ids = {answer.json()["exportId"] for answer in answers}
        assert len(ids) == 5
        await work(sheets)
        told = [(await ann.get(f"/api/exports/{each}")).json() for each in ids]
    assert {each["state"] for each in told} == {"DONE"}
    shas = await sheets.admin.fetch("select distinct f.sha256 from forebay.file f")
    assert len(shas) == 1, "the same data makes the same bytes"


async def test_exports_of_all_sheets_are_listed(sheets: Service) -> None:
    jobs = [await a_sheet(sheets, 2), await a_sheet(sheets, 1)]
    others = await a_sheet(sheets, 1, owner="bob")
    async with sheets.client("ann") as ann, sheets.client("bob") as bob, sheets.client("root") as root:
        made = [(await ann.post(f"/api/jobs/{job}/export")).json()["exportId"] for job in (*jobs, jobs[0])]
        (await bob.post(f"/api/jobs/{others}/export")).raise_for_status()
        first = (await ann.get("/api/exports?pageSize=2")).json()
        rest = (await ann.get("/api/exports", params={"after": first["next"]})).json()
        found = [*first["exports"], *rest["exports"]]
        assert [(each["exportId"], each["jobId"]) for each in found] == [
            (made[2], str(jobs[0])),
            (made[1], str(jobs[1])),
            (made[0], str(jobs[0])),
        ]
        assert [each["jobId"] for each in (await bob.get("/api/exports")).json()["exports"]] == [str(others)]
        assert (await root.get("/api/exports")).json()["exports"] == []
        assert len((await root.get("/api/exports?userId=all")).json()["exports"]) == 4
        assert (await ann.get("/api/exports?userId=all")).status_code == 403
