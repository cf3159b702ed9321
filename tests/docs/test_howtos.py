"""What the how-tos show, works."""

# demands: S1-65, S2-32, S2-33, S5-87, S5-137, S5-179

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI
from PIL import Image

from forebay import Client
from forebay.db.schema_parts import all_parts
from forebay.embedded import find_program
from forebay.engine.db.registry import register
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import ThrottledError
from forebay.example import texts
from forebay.identity.logins import ROLES, SETTINGS, login_name
from forebay.pipelines.articles.steps import articles
from forebay.pipelines.attachments.commands import attachments as attachment_commands
from forebay.pipelines.attachments.declared_sources import load_declared
from forebay.pipelines.bookmarks.imports import bookmark_imports
from forebay.pipelines.bookmarks.steps import bookmarks
from forebay.pipelines.media.steps import media
from forebay.services.browser import find_browser
from forebay.services.egress import Fetched, FetchRequest, open_egress, open_http
from forebay.services.products import ProviderRequest, Query, load_providers
from forebay.services.sources import load_sources
from forebay.settings import Settings
from forebay.storage import Blobs, open_store
from forebay.testing import testbed
from forebay.types import NotFound
from tests._packages import installed, write_distribution
from tests._servers import Server
from tests.api._live import live
from tests.cli._run import ask
from tests.docs._blocks import ROOT, blocks, execute, files
from tests.docs._shell import free_port, run_shell, shell_environment
from tests.engine.test_worker import working
from tests.fleet._nats import nats_server
from tests.services._files import pdf
from tests.services.egress._world import answering, reply
from tests.services.speech._speech import SPEECH
from tests.telemetry._collector import collecting
from tests.webhooks.test_lark import encrypted


def test_testing(tmp_path: Path) -> None:
    """As its reader does it: the files as they are, and pytest."""
    for name, text in files("docs/howto/testing.md").items():
        (tmp_path / name).write_text(text)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=200, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_attachments(tmp_path: Path) -> None:
    """The declaration is valid, and the commands exist."""
    (declared,) = blocks("docs/howto/attachments.md", "toml")
    (tmp_path / "shop.toml").write_text(declared)
    (shop,) = load_declared(tmp_path, {"SHOP_SECRET": "s"})
    assert (shop.name, shop.missing()) == ("shop", "SHOP_FILES_KEY is not set")
    (commands,) = blocks("docs/howto/attachments.md", "sh")
    for line in commands.splitlines():
        command = attachment_commands.commands[line.split()[2]]
        command.make_context(line.split()[2], line.split()[3:])


async def test_steps(dsn: str) -> None:
    example, transaction, _, hooks, _ = blocks("docs/howto/steps.md", "python")
    space = execute("docs/howto/steps.md", example)
    stories, story = space["stories"], space["Story"]
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table story (url text primary key, title text, image text)")
    async with testbed(dsn, [stories], migrated=True) as bed:
        inputs = [story(url="a", text="some words here"), story(url="b")]
        job = await stories.submit_many(conn, inputs)
        await bed.finish()
        first, second = await bed.items(job)
        assert first.result["store"] == 3
        assert first.result["embed"] == [3.0, 1.0]
        assert (first.status, second.status) == ("DONE", "NOT_FOUND")
        assert await conn.fetchval("select title from story") == "some words here"
    await conn.execute("create table balance (name text, amount int); insert into balance values ('a', 9), ('b', 0)")
    transfers = execute("docs/howto/steps.md", transaction)["transfers"]
    async with testbed(dsn, [transfers], migrated=True) as bed:
        await transfers.submit_many(conn, [{"from": "a", "to": "b", "amount": 5}] * 2)
        await bed.finish()
        assert await conn.fetchval("select array_agg(amount order by name) from balance") == [3, 5]
    hooked = execute("docs/howto/steps.md", hooks)
    async with testbed(dsn, [hooked["letters"]], migrated=True) as bed:
        job = await bed.submit(hooked["letters"], "hello")
        await bed.finish()
        assert (await bed.item(job)).result == {"send": f"letters.send {job.job_id}: hello"}
        assert hooked["observed"].attempts == {("letters.send", "DONE"): 1}
    await conn.close()


async def test_limits(dsn: str) -> None:
    _, _, example, *_ = blocks("docs/howto/steps.md", "python")
    mails = execute("docs/howto/steps.md", example)["mails"]
    async with testbed(dsn, [mails], migrated=True) as bed:
        jobs = [await bed.submit(mails, {}, owner="eve", meta={"account": account}) for account in ("a", "a", "b")]
        await bed.finish()
        assert [(await bed.job(job)).state for job in jobs] == ["DONE"] * 3
        assert await bed.pool.fetchval("select array_agg(key order by key) from forebay.rate_limit") == ["a", "b"]


async def test_submit(dsn: str) -> None:
    space = execute("docs/howto/submit.md")
    async with testbed(dsn, [space["pages"], space["sites"]], migrated=True) as bed, bed.pool.acquire() as conn:
        await bed.submit(space["sites"], {"urls": ["x", "y"]}, owner="eve")
        _, later, many, stream = await space["submit_all"](conn, dsn)
        assert await conn.fetchval("select meta from forebay.job where id = $1", later) == '{"from": "mail"}'
        await bed.run()
        assert (await bed.job(later)).state == "QUEUED"
        assert await space["results"](conn, many) == [1, 1]
        await space["refresh"](conn, "front")
        assert sum(await space["results"](conn, stream)) == 10 + 2 * 90 + 3 * 900
        assert await conn.fetchval("select timezone from forebay.schedule where name = 'front page'") == "Europe/Paris"
        keys = "select array_agg(j.key order by j.key) from forebay.job j join forebay.owner o on o.id = j.owner_id"
        assert await conn.fetchval(f"{keys} where o.name = 'eve' and j.key is not null") == ["x", "y"]


async def test_client(dsn: str) -> None:
    space = execute("docs/howto/client.md")
    async with working(dsn, space["orders"]), asyncpg.create_pool(dsn, min_size=1, max_size=2) as pool:
        assert await space["place"](pool) == [f"shipped {n}" for n in range(1, 6)]
        async with pool.acquire() as conn:
            held = await space["hold"](conn)
        assert (await Client(pool).job(held)).state == "CANCELLED"
        assert await asyncio.to_thread(space["place_and_wait"], dsn) == "shipped 7"


async def test_waits(dsn: str) -> None:
    space = execute("docs/howto/waits.md")
    (statement,) = blocks("docs/howto/waits.md", "sql")
    async with testbed(dsn, [space["orders"]], migrated=True) as bed, bed.pool.acquire() as conn:
        jobs = await Client(conn).submit_jobs(space["orders"], [{"id": 41}, {"id": 42}, {"id": 43}])
        await bed.run()
        assert await space["paid"](conn, 41, "A-0") == 1
        assert await conn.fetchval(statement) == 1
        await bed.finish()
        results = [(await bed.item(job)).result.get("ship") for job in jobs]
        assert results == ["order 41 shipped with receipt A-0", "order 42 shipped with receipt A-1", None]


async def test_order(dsn: str) -> None:
    space = execute("docs/howto/order.md")
    (statement,) = blocks("docs/howto/order.md", "sql")
    async with testbed(dsn, [space["changes"], space["messages"]], migrated=True) as bed, bed.pool.acquire() as conn:
        await conn.execute("create table contact (customer text primary key, email text)")
        first = await bed.submit(space["changes"], space["Change"](customer="ada", email="a@old.example"))
        await conn.execute("select forebay.pause($1)", first.job_id)
        second = await bed.submit(space["changes"], space["Change"](customer="ada", email="a@new.example"))
        spoken = await bed.submit(space["messages"], {}, meta={"conversation": "c1"})
        await bed.run()
        assert [tuple(row) for row in await conn.fetch(statement)] == [
            (first.job_id, 1, True),
            (second.job_id, 1, False),
        ]
        assert (await bed.item(spoken)).status == "DONE"
        await conn.execute("select forebay.resume($1)", first.job_id)
        await bed.run()
        assert await conn.fetchval("select email from contact") == "a@new.example"


async def test_maps(dsn: str, tmp_path: Path) -> None:
    space = execute("docs/howto/maps.md")
    path = tmp_path / "document.pdf"
    path.write_bytes(pdf("one", "two", "three"))
    async with testbed(dsn, [space["documents"], space["pages"]], migrated=True) as bed:
        job = await bed.submit(space["documents"], space["Document"](path=str(path)))
        await bed.run()
        assert (await bed.item(job)).result["join"].split() == ["one", "two", "three"]


async def test_speech(dsn: str, tmp_path: Path) -> None:
    space = execute("docs/howto/speech.md")
    recording = tmp_path / "talk.ogg"
    recording.write_bytes(SPEECH.read_bytes())
    async with testbed(dsn, [space["talks"]], migrated=True) as bed:
        job = await bed.submit(space["talks"], space["Talk"](path=str(recording)))
        await bed.run()
        assert "visitor may borrow" in (await bed.item(job)).result["listen"].replace("\n", " ")


async def test_what_steps_share(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a module of its own, which is where the process looks for its function."""
    *_, sharing = blocks("docs/howto/steps.md", "python")
    (tmp_path / "library.py").write_text(sharing)
    monkeypatch.syspath_prepend(tmp_path)
    books = importlib.import_module("library").books
    async with testbed(dsn, [books], migrated=True) as bed:
        job = await bed.submit(books, {"title": "moby dick"})
        await bed.run()
        assert (await bed.item(job)).result["look_up"] == hashlib.sha256(b"MOBY DICK").hexdigest()
        assert await bed.pool.fetchval("select name from forebay.schedule") == "books: every morning"


@pytest.mark.skipif(find_browser(Settings()) is None, reason="no Chromium is installed")
async def test_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_EGRESS_ALLOW_NETWORKS", "127.0.0.0/8")
    space = execute("docs/howto/browser.md")
    async with answering(reply("<title>Hello</title><p>Some words to look at, and some more.")) as site:
        assert await space["look"](f"http://127.0.0.1:{site.port}/") == "page 200 Hello"


async def test_providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop, stock = blocks("docs/howto/providers.md", "toml")
    space = execute("docs/howto/providers.md")
    module = types.ModuleType("our_shop.stock")
    monkeypatch.setattr(module, "find", space["find"], raising=False)
    monkeypatch.setitem(sys.modules, "our_shop", types.ModuleType("our_shop"))
    monkeypatch.setitem(sys.modules, "our_shop.stock", module)
    product = {"id": 7, "title": {"en": "Pen"}, "codes": [{"type": "ean", "value": "4006381333931"}], "link": "/p/7"}
    listed = json.dumps({"products": [product | {"offer": {"cents": 120}}]})
    slow = reply(json.dumps({"error": {"code": "SLOW_DOWN"}}), "400 Bad Request", Retry_After=7)
    in_stock = json.dumps([{"nr": 1, "name": "Pen", "eur": 1.5}])
    async with (
        open_egress(Settings(egress_allow_networks="127.0.0.0/8")) as egress,
        open_http(egress) as http,
        answering(reply(listed), slow, reply("", "404 Not Found"), reply(in_stock)) as site,
    ):

        async def fetch(request: ProviderRequest) -> Fetched:
            url = re.sub(r"https://\w+\.shop\.example", f"http://127.0.0.1:{site.port}", request.url)
            wanted = FetchRequest(
                url, "test", 10_000, 10, headers=request.headers, secret_headers=request.secret_headers
            )
            return await http.fetch(replace(wanted, raise_for_status=False))

        (tmp_path / "shop.toml").write_text(shop)
        (tmp_path / "stock.toml").write_text(stock)
        web, function = load_providers(tmp_path, {"SHOP_KEY": "hunter2"})
        query = Query("gtin", {"gtin": "4006381333931"})
        (found,) = await web.find(query, fetch)
        assert (found.fields["price"], found.fields["url"]) == ("1.20", "https://api.shop.example/p/7")
        with pytest.raises(ThrottledError, match="SLOW_DOWN") as throttled:
            await web.find(query, fetch)
        assert throttled.value.retry_after == 7
        assert await web.find(query, fetch) == []
        (own,) = await function.find(query, fetch)
        assert (own.id, own.fields["price"]) == ("1", "1.50")
    assert site.heads[0].startswith("GET /products?ean=4006381333931 HTTP/1.1")
    assert "bearer hunter2" in site.heads[0].lower()
    assert site.heads[3].startswith("GET /gtin/4006381333931 HTTP/1.1")


async def test_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = blocks("docs/howto/sources.md", "toml")
    declared = tmp_path / "declared"
    declared.mkdir()
    for number, text in enumerate(kinds):
        (declared / f"{number}.toml").write_text(text)
    found = load_sources(declared, [Path("/srv/drop")])
    assert [each.name for each in found] == ["drop", "supplier", "till", "warehouse"]

    for path in declared.iterdir():
        path.unlink()
    drop = tmp_path / "drop"
    drop.mkdir()
    (drop / "a.csv").write_bytes(b"x" * 2_000_000)
    (drop / "b.csv").symlink_to("a.csv")
    folder = kinds[1].replace("file:///srv/drop/prices", drop.as_uri())
    (declared / "drop.toml").write_text(f'{folder}settle_s = 0\nafter = "delete"\n')
    space = execute("docs/howto/sources.md")
    assert await space["sizes"](Settings(egress_confine=False), declared, [tmp_path]) == {"a.csv": 2_000_000}
    assert capsys.readouterr().out.endswith("b.csv is a symbolic link\n")
    assert [path.name for path in drop.glob("*")] == ["b.csv"]


def test_a_catalogue_of_ones_own(dsn: str, tmp_path: Path) -> None:
    ask(dsn, "select forebay.put_product(forebay.owner_id('ada'), 'stock', 'k', null, null, null, array['mug'], '{}')")
    (block,) = blocks("docs/howto/providers.md", "sh")
    said = run_shell(block, tmp_path, {"FOREBAY_DATABASE_URL": dsn})
    assert "stock of ada is shared with all users" in said
    assert ask(dsn, "select count(*) from forebay.product") == 0


async def test_egress(capfd: pytest.CaptureFixture[str]) -> None:
    space = execute("docs/howto/egress.md")
    settings = Settings(egress_allow_networks="127.0.0.0/8")
    async with answering(reply("hello"), reply("", "404 Not Found")) as site:
        url = f"http://127.0.0.1:{site.port}/"
        assert await space["size_of"](settings, url) == 5
        assert await space["size_of"](settings, url) == NotFound(f"{url} answered 404 Not Found")
    async with answering(reply("[]")) as site, open_egress(Settings()) as egress, open_http(egress) as http:
        assert await space["models"](http, f"http://127.0.0.1:{site.port}/v1") == b"[]"
    async with open_egress(settings) as egress:
        assert await space["run"](egress, "sh", "-c", "echo $http_proxy; exit 3") == 3
        assert f"@127.0.0.1:{egress.describe()['port']}" in capfd.readouterr().out


async def test_a_large_file(dsn: str, tmp_path: Path) -> None:
    example = next(block for block in blocks("docs/howto/egress.md", "python") if "open_partial" in block)
    space = execute("docs/howto/egress.md", example)
    settings = Settings(egress_allow_networks="127.0.0.0/8", data_dir=tmp_path)
    async with (
        testbed(dsn, [texts], migrated=True) as bed,
        open_egress(settings) as egress,
        open_http(egress) as http,
        answering(reply("some bytes")) as site,
    ):
        blobs = Blobs(bed.pool, open_store(settings))
        owner = await bed.pool.fetchval("select forebay.owner_id('ada')")
        attempt = types.SimpleNamespace(owner_id=owner, key="1-1-fetch")
        stored = await space["fetch_media"](attempt, http, blobs, f"http://127.0.0.1:{site.port}/")
        assert await blobs.read(stored.sha256) == b"some bytes"
        assert not (await blobs.partial_path(owner, "1-1-fetch")).exists()


async def test_files(dsn: str, tmp_path: Path) -> None:
    space = execute("docs/howto/files.md")
    conn = await asyncpg.connect(dsn)
    await conn.execute("create table note (text text, file_id bigint references forebay.file)")
    async with testbed(dsn, [space["notes"]], migrated=True) as bed:
        space["blobs"] = blobs = Blobs(bed.pool, open_store(Settings(data_dir=tmp_path)))
        job = await bed.submit(space["notes"], space["Note"](text="some words"))
        await bed.finish()
        item = await bed.item(job)
        assert await blobs.read(item.result["keep"]) == b"some words"
    assert await conn.fetchval("select f.name from note n join forebay.file f on f.id = n.file_id") == "note.txt"
    await conn.close()


async def test_sql(dsn: str) -> None:
    pages: dict[str, Any] = {
        "name": "pages",
        "steps": [
            {"name": "fetch", "after": [], "optional": False, "after_all": False, "queue": "pages.fetch",
             "max_attempts": 3, "max_expiries": 20}
        ],
    }  # fmt: skip
    conn = await asyncpg.connect(dsn)
    await register(conn, pages)
    (block,) = blocks("docs/howto/sql.md", "sql")
    for statement in re.sub(r"--.*", "", block).split(";"):
        if statement.strip():
            await conn.fetch(statement)
    assert await conn.fetchval("select count(*) from forebay.audit") == 6
    await conn.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_api(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn))
    (block,) = blocks("docs/howto/api.md", "sh")
    own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"}
    said = run_shell(block.replace("8080", free_port()), tmp_path, own)
    assert '{"jobId":"1","created":true,"items":1}' in said
    assert '"jobId":"2"' in said
    assert said.rpartition('"state":"')[2].startswith("DONE")


def test_fleet(dsn: str, tmp_path: Path) -> None:
    (block,) = blocks("docs/howto/fleet.md", "sh")
    with nats_server(tmp_path / "nats") as url:
        own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"}
        said = run_shell(block.replace("nats://127.0.0.1:4222", url), tmp_path, own)
    assert "DONE" in said
    assert "it can be reached" in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_webhooks(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/howto/webhooks.md"
    monkeypatch.setenv("FOREBAY_PUSHES_SECRET", "It's a Secret to Everybody")
    write_distribution(tmp_path, "forebay_pushes", files(page), "pushes = forebay_pushes:package")
    (send,), (forget,) = blocks(page, "sh"), blocks(page, "sql")
    with installed(tmp_path):
        steps = importlib.import_module("forebay_pushes.steps")
        with live(dsn, steps.pushes) as (address, _):
            command = ["bash", "-ec", send.replace("http://127.0.0.1:8080", address)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "204\n204\n"
    assert ask(dsn, "select array_agg(input::text) from forebay.item") == ['{"ref": "refs/heads/main"}']
    ask(dsn, forget)
    assert ask(dsn, "select count(*) from forebay.webhook_delivery") == 1  # it is younger


async def test_events_of_lark() -> None:
    (example,) = (block for block in blocks("docs/howto/webhooks.md", "python") if "read_event" in block)
    app = FastAPI()
    app.include_router(execute("docs/howto/webhooks.md", example)["router"])
    asked = {"type": "url_verification", "challenge": "ajls384kdjx98XX"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://forebay.test") as lark:
        answer = await lark.post("/api/webhooks/lark", content=encrypted(asked, "the Encrypt Key"))
    assert answer.json() == {"challenge": "ajls384kdjx98XX"}


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_bookmarks(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn, bookmarks, bookmark_imports))
    block = "".join(blocks("docs/howto/bookmarks.md", "sh"))
    script = f"forebay api --port 8080 &\n{block}\nkill %1".replace("8080", free_port())
    said = run_shell(script, tmp_path, {"FOREBAY_DATABASE_URL": dsn})
    assert '"created":true' in said
    assert '"note":"for later"' in said
    assert "https://example.com/" in (tmp_path / "bookmarks.html").read_text()
    assert '"items":1}' in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_media(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn, media))
    block = "".join(blocks("docs/howto/media.md", "sh"))
    script = f"forebay api --port 8080 &\n{block}\nkill %1".replace("8080", free_port())
    said = run_shell(script, tmp_path, {"FOREBAY_DATABASE_URL": dsn})
    assert '"fileState":"waiting"' in said
    assert '"state":"CANCELLED"' in said
    assert "download: retry, attempts: 0" in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_articles(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn, articles))
    block = "".join(blocks("docs/howto/articles.md", "sh"))
    script = f"forebay api --port 8080 &\n{block}\nkill %1".replace("8080", free_port())
    said = run_shell(script, tmp_path, {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_DATA_DIR": str(tmp_path / "data")})
    assert "+A *weir* is a low dam." in said
    assert "<em>weir</em>" in said
    assert '"event":"created"' in said


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example uses curl, which is not installed here")
def test_sheets(dsn: str, tmp_path: Path) -> None:
    drop, declared = tmp_path / "drop", tmp_path / "declared"
    drop.mkdir()
    declared.mkdir()
    (drop / "march.csv").write_text("Name\nTea towel green\n")
    (declared / "drop.toml").write_text(
        f'name = "drop"\nurl = "{drop.as_uri()}"\nowner = "ada"\npatterns = ["*.csv"]\nsettle_s = 0\n'
    )
    Image.new("RGB", (64, 48), "red").save(tmp_path / "label.png")
    block = "".join(blocks("docs/howto/sheets.md", "sh"))
    begin = "trap 'kill %1 %2; wait' EXIT\nforebay api --port 8080 & forebay worker &\n"
    own = {
        "FOREBAY_DATABASE_URL": dsn,
        "FOREBAY_SHEETS_SOURCES": str(declared),
        "FOREBAY_SHEETS_ROOTS": str(tmp_path),
        "FOREBAY_SHEETS_NOT_FOUND_WAIT_S": "0",
        "FOREBAY_GRACE_S": "0",
    }
    said = run_shell(f"{begin}{block}".replace("8080", free_port()), tmp_path, own)
    assert '"Blue mug 300 ml",null,null,"M-1"' in said
    assert '"mapping":{"price":"Cost","title":"Name"},"decimalMark":".","currency":"EUR"' in said
    grid = (tmp_path / "grid.csv").read_text("utf-8-sig").splitlines()
    assert [line.split(",")[:4] for line in grid[1:]] == [
        ["2", "DONE", "blue mugg 300ml", "4.20"],
        ["3", "NOT_FOUND", "Garden hose", "19"],
    ]
    assert (tmp_path / "grid.xlsx").read_bytes().startswith(b"PK")
    assert "march.csv" in said


def test_operating(dsn: str, bare_dsn: str, server: Server, tmp_path: Path) -> None:
    """All of it in one go, but for what needs an index of packages."""
    with server.database() as third:
        _operate(dsn, bare_dsn, third, tmp_path)
        assert ask(third, "select name from forebay.account") == "admin"


def _operate(dsn: str, bare_dsn: str, third: str, tmp_path: Path) -> None:
    block = "".join(blocks("docs/howto/operating.md", "sh"))
    lines = [line for line in block.splitlines() if not line.startswith("pip ")]
    script = "\n".join(["forebay users add admin --admin --link", *lines, "forebay users list"])
    (tmp_path / "data" / "blobs").mkdir(parents=True)
    program = find_program("pg_dump")
    assert program is not None
    script = script.replace("postgresql://app@db.example/app", bare_dsn)
    script = f'export PATH="{program.parent}:$PATH"; {script}'
    urls = {"FOREBAY_DATABASE_URL": dsn, "NEW_DATABASE_URL": third}
    said = run_shell(script, tmp_path, {**urls, "FOREBAY_DATA_DIR": "data"})
    assert "/sign-in#fbl_" in said
    assert "0 blobs, 0 B, checked: none damaged" in said
    assert ask(bare_dsn, "select name from forebay.account") == "admin"


def test_scale(dsn: str, tmp_path: Path) -> None:
    """Four workers start, with the settings for a pooler, and the statement shows their connections."""
    start, settings = blocks("docs/howto/scale.md", "sh")
    statement, timeouts = blocks("docs/howto/scale.md", "sql")
    own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"}
    environment = shell_environment(own, Path(sys.executable).parent)
    script = ["bash", "-ec", f"{settings}exec {start}"]
    with subprocess.Popen(script, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL) as supervisor:
        try:
            deadline = time.monotonic() + 120
            while ask(dsn, "select count(*) from forebay.worker where stats <> '{}'") < 4:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert ask(dsn, statement) == "forebay worker"
            ask(dsn, f"begin; {timeouts}; rollback")  # the account belongs to all tests
        finally:
            supervisor.terminate()


async def test_what_a_migration_leaves_in_the_database(dsn: str) -> None:
    page = (ROOT / "docs/howto/operating.md").read_text("utf-8").partition("## What `forebay migrate` leaves")[2]
    listed = set(re.findall(r"`(\w+)`", page.partition("\n## ")[0]))
    conn = await asyncpg.connect(dsn)
    found = await conn.fetch(
        "select nspname::text as name from pg_namespace where nspname !~ '^pg_|^information_schema$|^public$'"
        " union all select extname::text from pg_extension where extname <> 'plpgsql'"
        " union all select relname::text from pg_class where relnamespace = 'forebay'::regnamespace"
        " and relkind in ('r', 'p') and not relispartition and relname <> all($1)",
        [name for part in all_parts() for name in part.table_names],
    )
    await conn.close()
    assert {row["name"] for row in found} == {"forebay", "pg_trgm", "vector", "migration", "part", "part_routine"}
    assert {row["name"] for row in found} | {*ROLES, *map(login_name, ROLES)} <= listed


def test_tracing(dsn: str, tmp_path: Path) -> None:
    asyncio.run(_register(dsn))
    (block,) = blocks("docs/howto/tracing.md", "sh")
    own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_PIPELINES": "forebay.example"}
    with collecting() as collector:
        running = subprocess.Popen(
            ["bash", "-ec", block.replace("http://localhost:4318", collector.url)],
            cwd=tmp_path,
            env=shell_environment(own),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            ask(dsn, """select forebay.submit('texts', '{"title": "Hello", "body": "A few words."}')""")
            wanted = {"texts.count", "texts.fingerprint", "texts.readability", "claim", "settle"}
            collector.until(lambda spans: wanted <= {span.name for span in spans})
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait(60)


async def _register(dsn: str, *pipelines: Pipeline[Any]) -> None:
    """As a worker does when it starts."""
    conn = await asyncpg.connect(dsn)
    for pipeline in pipelines or (texts,):
        await register(conn, pipeline.definition())
    await conn.close()


def test_the_accounts_of_the_database() -> None:
    """Not run: roles belong to the server, and all tests share them."""
    (block,) = blocks("docs/howto/operating.md", "sql")
    made = re.findall(r"select forebay\.make_login\('(\w+)', '(\w+)', '[\w ]+'\);", block)
    assert dict(made) == {login_name(role): role for role in SETTINGS}
    page = (ROOT / "docs/howto/operating.md").read_text("utf-8")
    assert all(f"`FOREBAY_{name.upper()}`" in page for name in SETTINGS.values())


def test_the_sandbox(tmp_path: Path) -> None:
    space = execute("docs/howto/sandbox.md")
    (tmp_path / "upload.csv").write_text("a\nb\n")
    assert space["COUNT"].fn(tmp_path / "upload.csv", tmp_path / "count.txt") == 2
    assert (tmp_path / "count.txt").read_text() == "2"
