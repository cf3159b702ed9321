"""Files of rows at the API: uploaded whole or in pieces, looked at, corrected, and nobody else's business."""

# demands: S5-10, S5-73, S5-85, S5-87, S5-114, S5-115, S5-144

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from forebay.engine.declare.pipeline import Pipeline
from forebay.intake import uploads
from forebay.pipelines.sheets.catalogue_rows import catalogue_rows
from forebay.pipelines.sheets.intake import sheet_intake
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.steps import sheet_images
from forebay.pipelines.sheets.steps import sheets as sheet_rows
from forebay.testing import testbed
from tests.api._service import Service, serving

CSV = b"Name,EAN\nPen,4006381333931\nInk,\n"
TUS = {"tus-resumable": "1.0.0"}
BYTES = {**TUS, "content-type": "application/offset+octet-stream"}


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, sheet_intake, sheet_rows, sheet_images, catalogue_rows, data_dir=tmp_path) as running:
        yield running


async def work(service: Service) -> None:
    settings = service.app.state.settings
    pipelines: list[Pipeline[Any]] = [sheet_intake, sheet_rows, sheet_images, catalogue_rows]
    async with testbed(service.dsn, pipelines, migrated=True, settings=settings) as bed:
        await bed.finish()


async def upload(client: httpx.AsyncClient, data: bytes = CSV, name: str = "rows.csv", **fields: str) -> httpx.Response:
    return await client.post("/api/jobs", data={"pipeline": "sheets", **fields}, files={"file": (name, data)})


def announced(**values: str) -> dict[str, str]:
    pairs = [f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in values.items()]
    return {"upload-metadata": ",".join(pairs)}


async def test_a_file_is_kept_and_read(service: Service) -> None:
    async with service.client("ann") as ann:
        answer = await upload(ann, options=json.dumps({"columns": {"title": "Name"}}))
        assert answer.status_code == 201, answer.text
        job = answer.json()["jobId"]
        assert answer.json() == {"jobId": job, "sheetId": answer.json()["sheetId"], "created": True, "items": 0}
        seen = (await ann.get(f"/api/sheets/{job}")).json()
        assert (seen["received"], seen["size"], seen["columns"], seen["readAt"]) == (len(CSV), len(CSV), None, None)
        await work(service)
        seen = (await ann.get(f"/api/sheets/{job}")).json()
        assert seen["mapping"] == {"title": "Name", "gtin": "EAN"}
        assert (seen["kind"], seen["encoding"], seen["delimiter"], seen["hasHeader"]) == ("csv", "utf-8", ",", True)
        assert seen["suggestions"][0] == {
            "field": "title", "column": "Name", "score": 1.0, "reason": "'Name' is a name of it",
        }  # fmt: skip
        items = (await ann.get(f"/api/jobs/{job}/items")).json()["items"]
        assert [item["status"] for item in items] == ["NOT_FOUND", "NOT_FOUND"]
        assert [item["inputSummary"]["title"] for item in items] == ["Pen", "Ink"]
        listed = (await ann.get("/api/sheets")).json()["sheets"]
        assert [(sheet["name"], sheet["counters"]["notFound"], sheet["state"]) for sheet in listed] == [
            ("rows.csv", 2, "DONE")
        ]
        link = (await ann.get(f"/api/files/{seen['fileId']}")).json()["url"]
        assert (await ann.get(link)).content == CSV


async def test_what_is_no_sheet_is_refused_at_the_door(service: Service) -> None:
    async with service.client("ann") as ann:
        for data, field, reason in (
            (b"%PDF-1.7", "file", "is a PDF: only tables and images are supported"),
            (b"", "file", "is empty"),
            (b"PK\x03\x04broken", "file", "this is not a ZIP archive, or its end is missing"),
        ):
            answer = await upload(ann, data)
            assert answer.status_code == 422
            assert answer.json()["errors"] == [{"field": field, "reason": reason}]
        wrong = await upload(ann, options=json.dumps({"colour": 1}))
        assert wrong.json()["errors"][0]["field"] == "options.colour"
        late = await upload(ann, runAt="2030-01-01T00:00:00Z")
        assert late.json()["errors"] == [
            {"field": "runAt", "reason": "files are read at once: use options.paused, and resume the job later"}
        ]
        nothing = await ann.post("/api/jobs", data={"pipeline": "sheets"}, files={"other": ("a", b"b")})
        assert nothing.json()["errors"] == [
            {"field": "file", "reason": "must be a file: CSV, XLSX, a picture, or a ZIP of pictures"}
        ]
        assert (await ann.get("/api/sheets")).json()["sheets"] == []


async def test_the_same_upload_is_one(service: Service) -> None:
    async with service.client("ann") as ann:
        first = await upload(ann, key="march")
        again = await upload(ann, key="march")
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["jobId"] == again.json()["jobId"]
        ann.headers["idempotency-key"] = "k1"
        first, again = await upload(ann), await upload(ann)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()


async def test_a_paused_sheet_waits_for_its_columns_to_be_checked(service: Service) -> None:
    async with service.client("ann") as ann:
        job = (await upload(ann, options=json.dumps({"paused": True}))).json()["jobId"]
        await work(service)
        counters = (await ann.get(f"/api/jobs/{job}")).json()["counters"]
        assert (counters["total"], counters["pending"]) == (2, 2)
        changed = await ann.patch(f"/api/sheets/{job}", json={"columns": {"gtin": None}, "currency": "eur"})
        assert (changed.json()["mapping"], changed.json()["currency"]) == ({"title": "Name"}, "EUR")
        wrong = await ann.patch(f"/api/sheets/{job}", json={"columns": {"title": "Nome"}})
        assert wrong.json()["errors"] == [
            {"field": "columns.title", "reason": "names the column 'Nome'; the columns are 'Name', 'EAN'"}
        ]
        await ann.post(f"/api/jobs/{job}/resume")
        await work(service)
        assert (await ann.get(f"/api/jobs/{job}")).json()["counters"]["notFound"] == 2
        item = (await ann.get(f"/api/jobs/{job}/items/1")).json()
        assert item["normalized"]["fields"] == {"title": "Pen"}
        again = await ann.post(f"/api/jobs/{job}/reprocess", json={"restart": True, "providers": ["catalogue"]})
        assert again.json() == {"items": 2, "leftOut": {}}
        assert (await ann.get(f"/api/sheets/{job}")).json()["providers"] == ["catalogue"]


async def test_a_provider_that_there_is_not_is_refused(service: Service) -> None:
    why = {"field": "providers", "reason": "there is no provider 'nope'; the providers are catalogue"}
    async with service.client("ann") as ann:
        job = (await upload(ann, options=json.dumps({"paused": True}))).json()["jobId"]
        asked = {"scope": "items", "itemIds": ["2"], "providers": ["catalogue", "nope"]}
        for answer in (
            await ann.post(f"/api/jobs/{job}/reprocess", json=asked),
            await ann.patch(f"/api/sheets/{job}", json={"providers": ["nope"]}),
        ):
            assert (answer.status_code, answer.json()["errors"]) == (422, [why])
        assert (await ann.get(f"/api/sheets/{job}")).json()["providers"] is None
        at_the_door = await upload(ann, options=json.dumps({"providers": ["nope"]}))
        assert at_the_door.json()["errors"] == [why | {"field": "options.providers"}]
        assert len((await ann.get("/api/sheets")).json()["sheets"]) == 1


async def test_an_upload_in_pieces_goes_on_where_it_broke_off(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "PART_BYTES", 10)
    async with service.client("ann", **TUS) as ann:
        begun = await ann.post(
            "/api/uploads", headers={"upload-length": str(len(CSV)), **announced(filename="rows.csv", priority="3")}
        )
        assert begun.status_code == 201, begun.text
        place = begun.headers["location"]

        async def breaking() -> AsyncIterator[bytes]:
            yield CSV[:7]
            yield CSV[7:14]
            raise httpx.ReadError("the line broke")

        broken = await ann.patch(place, content=breaking(), headers={**BYTES, "upload-offset": "0"})
        assert broken.status_code == 500
        stands = await ann.head(place)
        upto = int(stands.headers["upload-offset"])
        assert stands.headers["upload-length"] == str(len(CSV))
        wrong = await ann.patch(place, content=b"x", headers={**BYTES, "upload-offset": "3"})
        assert wrong.status_code == 409
        assert wrong.json()["errors"] == [
            {"field": "Upload-Offset", "reason": f"is 3; {upto} bytes have been received"}
        ]
        rest = await ann.patch(place, content=CSV[upto:], headers={**BYTES, "upload-offset": str(upto)})
        assert (rest.status_code, rest.headers["upload-offset"]) == (204, str(len(CSV)))
        more = await ann.patch(place, content=b"x", headers={**BYTES, "upload-offset": str(len(CSV))})
        assert more.status_code == 409
        await work(service)
        job = begun.json()["jobId"]
        assert (await ann.get(f"/api/jobs/{job}")).json()["counters"]["notFound"] == 2
        assert (await ann.get(f"/api/jobs/{job}")).json()["priority"] == 3
        done = await ann.delete(place)
        assert (done.status_code, done.json()["detail"]) == (409, "the upload is complete: cancel its job instead")


async def test_two_that_go_on_with_the_same_upload(service: Service) -> None:
    async with service.client("ann", **TUS) as ann:
        begun = await ann.post("/api/uploads", headers={"upload-length": str(len(CSV))})
        place, headers = begun.headers["location"], {**BYTES, "upload-offset": "0"}
        is_here, may_go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield CSV[:5]
            is_here.set()
            await may_go_on.wait()
            yield CSV[5:]

        first = asyncio.create_task(ann.patch(place, content=slow(), headers=headers))
        await is_here.wait()
        assert (await ann.patch(place, content=CSV, headers=headers)).status_code == 204
        may_go_on.set()
        late = await first
        assert (late.status_code, late.headers["retry-after"]) == (409, "1")
        assert late.json()["detail"] == "another request continues the same upload"
        await work(service)
        assert (await ann.get(f"/api/jobs/{begun.json()['jobId']}")).json()["counters"]["total"] == 2


@pytest.mark.parametrize(
    ("headers", "status", "field", "reason"),
    [
        ({"upload-length": "0"}, 422, "file", "has 0 bytes; 1 to"),
        ({"upload-length": "99999999999"}, 413, "file", "has 99999999999 bytes; 1 to"),
        ({"upload-length": "5", "tus-resumable": "0.2"}, 412, "Tus-Resumable", "must be 1.0.0"),
        ({"upload-length": "5", "upload-metadata": "colour cmVk"}, 422, "Upload-Metadata", "there is no 'colour'"),
        ({"upload-length": "5", "upload-metadata": "key !!"}, 422, "Upload-Metadata", "key must be UTF-8 in Base64"),
        ({"upload-length": "5", "upload-metadata": "options e30x"}, 422, "Upload-Metadata", "options must be JSON"),
    ],
)
async def test_an_upload_that_cannot_be(
    service: Service, headers: dict[str, str], status: int, field: str, reason: str
) -> None:
    async with service.client("ann", **TUS) as ann:
        answer = await ann.post("/api/uploads", headers=headers)
        assert answer.status_code == status, answer.text
        (error,) = answer.json()["errors"]
        assert error["field"] == field
        assert error["reason"].startswith(reason)


async def test_uploads_and_sheets_of_others_are_not_there(service: Service) -> None:
    async with service.client("ann", **TUS) as ann, service.client("bob", **TUS) as bob:
        begun = await ann.post("/api/uploads", headers={"upload-length": "5"})
        place, job = begun.headers["location"], begun.json()["jobId"]
        assert (await bob.head(place)).status_code == 404
        assert (await bob.patch(place, content=b"x", headers={**BYTES, "upload-offset": "0"})).status_code == 404
        missing = await bob.delete(place)
        number = place.rsplit("/", 1)[1]
        assert (missing.status_code, missing.json()["detail"]) == (404, f"upload: there is no upload {number}")
        for answer in (
            await bob.get(f"/api/sheets/{job}"),
            await bob.patch(f"/api/sheets/{job}", json={"providers": []}),
        ):
            assert (answer.status_code, answer.json()["detail"]) == (404, f"job: there is no sheet of job {job}")
        assert (await bob.get("/api/sheets")).json()["sheets"] == []
        assert (await bob.get("/api/sheets", params={"userId": "all"})).status_code == 403
        too_much = await ann.patch(place, content=b"123456", headers={**BYTES, "upload-offset": "0"})
        assert too_much.status_code == 413
        assert too_much.json()["errors"] == [
            {"field": "body", "reason": "has more bytes than were announced: 5 are missing"}
        ]
        plain = await ann.patch(place, content=b"1", headers={**TUS, "upload-offset": "0"})
        assert (plain.status_code, plain.json()["detail"]) == (415, "send application/offset+octet-stream")
        early = await ann.patch(f"/api/sheets/{job}", json={"currency": "EUR"})
        assert (early.status_code, early.json()["detail"]) == (409, "columns: the columns of this file are not known")
        assert (await ann.delete(place)).status_code == 204
        gone = await ann.patch(place, content=b"12345", headers={**BYTES, "upload-offset": "0"})
        assert (gone.status_code, gone.json()["detail"]) == (404, "upload: there is no upload 1")
        assert (await ann.get(f"/api/jobs/{job}")).json()["state"] == "CANCELLED"
        again = await ann.post("/api/uploads", headers={"upload-length": "5"})
        await ann.post(f"/api/jobs/{again.json()['jobId']}/cancel")
        ended = await ann.patch(again.headers["location"], content=b"12345", headers={**BYTES, "upload-offset": "0"})
        assert (ended.status_code, ended.json()["detail"]) == (409, "the upload is complete or cancelled")
    async with service.client("root") as root:
        assert len((await root.get("/api/sheets", params={"userId": "all"})).json()["sheets"]) == 2
        spoken = await root.options("/api/uploads")
        assert spoken.headers["tus-extension"] == "creation,termination"


async def test_only_sheets_have_providers(service: Service) -> None:
    async with service.client("ann") as ann:
        job: Any = (await ann.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "x"}})).json()["jobId"]
        answer = await ann.post(f"/api/jobs/{job}/reprocess", json={"providers": ["b"]})
        why = "unknown option for the pipeline of this job"
        assert (answer.status_code, answer.json()["errors"]) == (422, [{"field": "providers", "reason": why}])
        row = {"pipeline": "sheets", "input": {"row": {"Name": "Pen"}}}
        alone: Any = (await ann.post("/api/jobs", json=row)).json()["jobId"]
        answer = await ann.post(f"/api/jobs/{alone}/reprocess", json={"providers": ["b"]})
        assert answer.json()["errors"] == [{"field": "providers", "reason": "is only for jobs of sheets"}]
        unknown = await ann.post(f"/api/jobs/{alone}/reprocess", json={"nonsense": 1})
        assert unknown.json()["errors"] == [{"field": "nonsense", "reason": "there is no such field"}]


async def test_sheets_can_be_switched_off(dsn: str, tmp_path: Path) -> None:
    off = SheetsSettings(enabled=False)
    async with serving(dsn, packages=[off], data_dir=tmp_path) as service, service.client("ann", **TUS) as ann:
        for answer in (await upload(ann), await ann.post("/api/uploads", headers={"upload-length": "5"})):
            assert answer.status_code == 404
            assert answer.json()["detail"].endswith("is switched off here: FOREBAY_SHEETS_ENABLED")


async def test_a_kickoff_reads_the_file_and_works_on_its_rows(service: Service) -> None:
    async with service.client("ann") as ann:
        job = (await upload(ann)).json()["jobId"]
        slice_ = await ann.post(f"/api/jobs/{job}/kickoff", params={"durationMs": 20_000})
        assert slice_.status_code == 200, slice_.text
        assert slice_.json()["job"]["counters"]["total"] == 2
        assert (await ann.get(f"/api/jobs/{job}/items/2")).json()["normalized"]["fields"] == {"title": "Ink"}


async def test_a_key_stands_for_one_file(service: Service) -> None:
    async with service.client("ann", **TUS) as ann:
        loaded = [await upload(ann, key="c", options=json.dumps({"catalogue": "things"})) for _ in range(1)]
        await work(service)  # the job is one of another pipeline now
        loaded.append(await upload(ann, key="c", options=json.dumps({"catalogue": "things"})))
        assert [answer.status_code for answer in loaded] == [201, 200]
        assert loaded[0].json()["jobId"] == loaded[1].json()["jobId"]
        half = await ann.post("/api/uploads", headers={"upload-length": "5", **announced(key="half")})
        assert half.status_code == 201
        other = await upload(ann, key="half")
        assert other.status_code == 409
        why = f"is that of an upload of 5 bytes that is not complete; this file has {len(CSV)}"
        assert other.json()["errors"] == [{"field": "key", "reason": why}]
        plain = await ann.post("/api/jobs", json={"pipeline": "sheets", "input": {"row": {}}, "key": "p"})
        taken = await upload(ann, key="p")
        assert taken.status_code == 409
        assert taken.json()["errors"] == [
            {"field": "key", "reason": f"is that of job {plain.json()['jobId']}, which is not made of a file"}
        ]


async def test_the_role_of_the_api_makes_no_sheet_of_others_jobs(service: Service) -> None:
    async with service.client("bob") as bob:
        job = int((await bob.post("/api/jobs", json={"pipeline": "pages", "input": {"title": "x"}})).json()["jobId"])
    ann = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    insert = "insert into forebay.sheet (owner_id, job_id, name) values ($1, $2, 'x')"
    upload = """insert into forebay.intake_file (target, reference, owner_id, job_id, name)
                values ('sheets', 1, $1, $2, 'x')"""
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", ann)
        for sql, args in (
            (insert, (ann, job)),
            (upload, (ann, job)),
            ("update forebay.intake_file set file_id = 1 where reference = 0", ()),
            (
                """insert into forebay.intake_part (target, reference, owner_id, start, name)
                   values ('sheets', 1, 1, 0, $1)""",
                (UUID(int=7),),
            ),
            ("update forebay.sheet_export set file_id = 1 where job_id = 0", ()),
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with service.admin.transaction():
                    await service.admin.execute(sql, *args)


# A look at the file, and reading it again.

WRONG = b"Name;Price\nPen;1,50\nInk;2,00\nNib;3,10;4\n"


async def test_a_look_at_the_stored_file(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        job = (await upload(ann, WRONG, options=json.dumps({"paused": True}))).json()["jobId"]
        assert (await ann.get(f"/api/sheets/{job}/preview")).json()["detail"] == "the file has not been received yet"
        await work(service)
        seen = (await ann.get(f"/api/sheets/{job}/preview")).raise_for_status().json()
        assert (seen["kind"], seen["delimiter"], seen["hasHeader"], seen["columns"]) == (
            "csv",
            ";",
            True,
            ["Name", "Price"],
        )
        assert seen["rows"][:2] == [{"line": 2, "cells": ["Pen", "1,50"]}, {"line": 3, "cells": ["Ink", "2,00"]}]
        assert [(row["line"], bool(row["reason"])) for row in seen["unreadable"]] == [(4, True)]
        assert (seen["mapping"]["title"], seen["isAll"]) == ("Name", True)
        other = (await ann.get(f"/api/sheets/{job}/preview", params={"delimiter": ",", "header": False})).json()
        assert (other["delimiter"], other["hasHeader"], len(other["columns"])) == (",", False, 2)
        wrong = await ann.get(f"/api/sheets/{job}/preview", params={"encoding": "klingon"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "file")
        assert (await bob.get(f"/api/sheets/{job}/preview")).status_code == 404


async def test_a_file_is_read_again_with_other_options(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        options = {"paused": True, "delimiter": ",", "header": False}
        job = (await upload(ann, WRONG, options=json.dumps(options))).json()["jobId"]
        soon = await ann.post(f"/api/sheets/{job}/reread", json={"options": {}})
        assert (soon.status_code, soon.json()["detail"]) == (409, "the file has not been received yet")
        await work(service)
        assert (await bob.post(f"/api/sheets/{job}/reread", json={"options": {}})).status_code == 404
        ann.headers["idempotency-key"] = "again"
        answer = await ann.post(f"/api/sheets/{job}/reread", json={"options": {"delimiter": ";"}})
        assert answer.status_code == 201, answer.text
        assert (
            await ann.post(f"/api/sheets/{job}/reread", json={"options": {"delimiter": ";"}})
        ).json() == answer.json()
        del ann.headers["idempotency-key"]
        new = answer.json()["jobId"]
        await work(service)
        seen = (await ann.get(f"/api/sheets/{new}")).json()
        assert (seen["columns"], seen["delimiter"], seen["received"]) == (["Name", "Price"], ";", len(WRONG))
        assert (await ann.get(f"/api/jobs/{new}")).json()["state"] == "PAUSED"
        assert (await ann.get(f"/api/jobs/{job}")).json()["state"] == "CANCELLED"
        assert [sheet["jobId"] for sheet in (await ann.get("/api/sheets")).json()["sheets"]] == [new]
        old = (await ann.get(f"/api/sheets/{job}")).json()
        assert (old["replacedBy"], old["fileId"]) == (new, None)
        told = f"the file was read again: its sheet is now that of job {new}"
        for again in (
            await ann.post(f"/api/sheets/{job}/reread", json={"options": {}}),
            await ann.get(f"/api/sheets/{job}/preview"),
        ):
            assert (again.status_code, again.json()["detail"]) == (409, told)
        link = (await ann.get(f"/api/files/{seen['fileId']}")).json()["url"]
        assert (await ann.get(link)).content == WRONG
        await ann.post(f"/api/jobs/{new}/resume")
        await work(service)
        late = await ann.post(f"/api/sheets/{new}/reread", json={"options": {}})
        assert (late.status_code, late.json()["detail"]) == (
            409, "rows of this sheet have been processed: upload the file again to read it differently",
        )  # fmt: skip


async def test_rows_with_the_same_key_count_once_and_the_mapping_stays(service: Service) -> None:
    double = b"Name,EAN\nPen,4006381333931\npen ,4006381333931\nInk,\n"
    async with service.client("ann") as ann:
        job = (await upload(ann, double, options=json.dumps({"paused": True}))).json()["jobId"]
        await work(service)
        await ann.patch(f"/api/sheets/{job}", json={"columns": {"brand": "Name", "title": None}, "currency": "EUR"})
        wrong = await ann.post(f"/api/sheets/{job}/reread", json={"key": ["Nome"]})
        assert wrong.json()["errors"] == [{"field": "key", "reason": "there is no column 'Nome'"}]
        new = (await ann.post(f"/api/sheets/{job}/reread", json={"key": ["Name"]})).raise_for_status().json()["jobId"]
        await work(service)
        seen = (await ann.get(f"/api/sheets/{new}")).json()
        assert (seen["mapping"], seen["currency"]) == ({"brand": "Name", "gtin": "EAN"}, "EUR")
        assert seen["options"]["key"] == ["Name"]
        assert (await ann.get(f"/api/jobs/{new}")).json()["counters"]["total"] == 2


async def test_a_mapping_is_offered_for_the_next_file_with_the_same_columns(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        first = (await upload(ann)).json()["jobId"]
        soon = await ann.put(f"/api/sheets/{first}/preset")
        assert (soon.status_code, soon.json()["detail"]) == (409, "columns: the columns of this file are not known")
        await work(service)
        assert (await ann.get(f"/api/sheets/{first}/preset")).json() == {"preset": None}
        await ann.patch(f"/api/sheets/{first}", json={"columns": {"title": None, "sku": "Name"}, "decimalMark": ","})
        assert (await ann.put(f"/api/sheets/{first}/preset")).status_code == 204
        turned = (await upload(ann, b"EAN,Name\n1,Pen\n")).json()["jobId"]
        other = (await upload(ann, b"EAN,Title\n1,Pen\n")).json()["jobId"]
        of_bob = (await upload(bob)).json()["jobId"]
        await work(service)
        found = (await ann.get(f"/api/sheets/{turned}/preset")).json()["preset"]
        assert (found["mapping"], found["decimalMark"], found["providers"]) == (
            {"sku": "Name", "gtin": "EAN"}, ",", None,
        )  # fmt: skip
        assert (await ann.get(f"/api/sheets/{other}/preset")).json() == {"preset": None}
        assert (await bob.get(f"/api/sheets/{of_bob}/preset")).json() == {"preset": None}
        assert (await bob.get(f"/api/sheets/{turned}/preset")).status_code == 404
        assert (await bob.put(f"/api/sheets/{turned}/preset")).status_code == 404
    await service.admin.execute(
        """insert into forebay.sheet_preset (owner_id, fingerprint, mapping, used_at)
           select p.owner_id, sha256(g::text::bytea), '{}', now() - g * interval '1 day'
           from forebay.sheet_preset p, generate_series(1, 250) g"""
    )
    async with service.client("ann") as ann:
        await ann.put(f"/api/sheets/{other}/preset")
    kept = await service.admin.fetch("select used_at from forebay.sheet_preset order by used_at desc")
    assert len(kept) == 200


async def test_how_long_the_rows_take_is_estimated_from_the_pace(service: Service) -> None:
    async with service.client("ann") as ann:
        paused = json.dumps({"paused": True})
        waiting = (await upload(ann, CSV + b"Cap,\n", options=paused)).json()["jobId"]
        before = (await upload(ann)).json()["jobId"]
        await work(service)
        assert (await ann.get(f"/api/jobs/{before}")).json()["state"] == "DONE"
        found = (await ann.get(f"/api/sheets/{waiting}/estimate")).json()
        assert found["rows"] == 3
        assert found["perSecond"] in (2 / 60, 1 / 60)  # two rows in one minute, or in two
        assert (found["seconds"], found["pace"]) == (3 / found["perSecond"], "own")
    async with service.client("bob") as bob:
        assert (await bob.get(f"/api/sheets/{waiting}/estimate")).status_code == 404
        first = (await upload(bob, options=paused)).json()["jobId"]
        await work(service)
        found = (await bob.get(f"/api/sheets/{first}/estimate")).json()
        assert (found["rows"], found["pace"]) == (2, "all")
        await bob.post(f"/api/jobs/{first}/resume")
        await work(service)
        second = (await upload(bob, CSV + b"Cap,\n", options=paused)).json()["jobId"]
        await work(service)
        assert (await bob.get(f"/api/sheets/{second}/estimate")).json()["pace"] == "own"


async def test_there_is_no_estimate_before_any_row_was_looked_up(service: Service) -> None:
    async with service.client("ann") as ann:
        job = (await upload(ann, options=json.dumps({"paused": True}))).json()["jobId"]
        await work(service)
        found = (await ann.get(f"/api/sheets/{job}/estimate")).json()
        assert found == {"rows": 2, "perSecond": None, "seconds": None, "pace": None}


async def test_a_file_that_could_not_be_read_is_read_again(service: Service) -> None:
    async with service.client("ann") as ann:
        job = (await upload(ann, CSV, options=json.dumps({"encoding": "utf-16"}))).json()["jobId"]
        await work(service)
        assert (await ann.get(f"/api/sheets/{job}")).json()["problem"] is not None
        new = (await ann.post(f"/api/sheets/{job}/reread", json={"options": {}})).json()["jobId"]
        await work(service)
        seen = (await ann.get(f"/api/sheets/{new}")).json()
        assert (seen["problem"], seen["columns"]) == (None, ["Name", "EAN"])
        assert (await ann.get(f"/api/jobs/{new}")).json()["counters"]["notFound"] == 2


async def test_an_upload_that_stopped_is_found_in_the_list(service: Service) -> None:
    async with service.client("ann") as ann:
        headers = TUS | announced(filename="rows.csv") | {"upload-length": str(len(CSV))}
        place = (await ann.post("/api/uploads", headers=headers)).headers["location"]
        await ann.patch(place, content=CSV[:9], headers=BYTES | {"upload-offset": "0"})
        (sheet,) = (await ann.get("/api/sheets")).json()["sheets"]
        assert (sheet["received"], sheet["size"], sheet["receivedAt"]) == (9, len(CSV), None)


async def test_nobody_passes_on_the_file_of_another(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        await upload(ann)
        await upload(bob)
        await work(service)
    bob_id = await service.admin.fetchval("select id from forebay.owner where name = 'bob'")
    ids = [row[0] for row in await service.admin.fetch("select id from forebay.sheet order by id")]
    async with service.admin.transaction():
        await service.admin.execute("select forebay.enter('forebay_api', $1, null)", bob_id)
        assert await service.admin.fetchval("select forebay.replace_sheet($1, $2)", *ids) is False
