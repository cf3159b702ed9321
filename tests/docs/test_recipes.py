"""The recipes for applications, run as their readers run them."""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from forebay.jobs import wait
from forebay.testing import testbed
from tests.docs._blocks import execute, files


def _written(document: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a recipe, importable until the test has ended."""
    for name, text in files(document).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        module = name.removesuffix(".py").replace("/", ".")
        for each in (module, module.partition(".")[0]):
            monkeypatch.delitem(sys.modules, each, raising=False)
    monkeypatch.syspath_prepend(folder)


async def test_fastapi(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _written("docs/howto/fastapi.md", tmp_path, monkeypatch)
    monkeypatch.setenv("FOREBAY_DATABASE_URL", dsn)
    app = importlib.import_module("app").app
    async with (
        importlib.import_module("with_worker").with_worker(app),
        AsyncClient(transport=ASGITransport(app), base_url="http://test") as client,
    ):
        await app.state.pool.execute("create table link (url text)")
        added = await client.post("/links", json={"url": "https://example.com/a"})
        assert added.status_code == 202
        job = added.json()["job"]
        await wait(dsn, job, timeout=60)
        assert (await client.get(f"/jobs/{job}")).json() == {"state": "DONE", "results": [{"host": "example.com"}]}
        assert (await client.get("/jobs/999")).json() == {"detail": "there is no job 999"}
        assert await app.state.pool.fetchval("select url from link") == "https://example.com/a"


async def test_sqlalchemy(dsn: str) -> None:
    space = execute("docs/howto/sqlalchemy.md")
    address = dsn.partition("://")[2]
    blocking = create_engine(f"postgresql+psycopg://{address}", poolclass=NullPool)
    engine = create_async_engine(f"postgresql+asyncpg://{address}", poolclass=NullPool)
    space["Base"].metadata.create_all(blocking)
    async with testbed(dsn, [space["links"]], migrated=True) as bed:
        async with AsyncSession(engine) as session:
            await space["add_link"](session, "https://example.com/a")
            assert await space["jobs_of"](session, "default") == 1
        with Session(blocking) as blocked:
            space["add_link_sync"](blocked, "https://example.org/b")
        await bed.finish()
        hosts = await bed.pool.fetch("select host from link order by id")
    assert [host for (host,) in hosts] == ["example.com", "example.org"]
    await engine.dispose()


def test_django(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    django = importlib.import_module("django")  # it has no types
    connection = importlib.import_module("django.db").connection
    _written("docs/howto/django.md", tmp_path, monkeypatch)
    importlib.import_module("django.conf").settings.configure(
        DATABASES={"default": _django_database(dsn)},
        INSTALLED_APPS=["shop"],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
    )
    django.setup()
    importlib.import_module("django.core.management").call_command("migrate", run_syncdb=True, verbosity=0)
    views = importlib.import_module("shop.views")
    links = importlib.import_module("shop.worker").links
    try:
        requests = importlib.import_module("django.test").RequestFactory()
        answer = views.add_link(requests.post("/links", {"url": "https://example.com/a"}))
        assert answer.status_code == 202
        with pytest.raises(TypeError, match=r"This is a django\.utils\.connection\.ConnectionProxy"):
            links.submit_sync(connection, {})
        asyncio.run(_finish(dsn, links))
        assert views.Link.objects.get().host == "example.com"
    finally:
        connection.close()


def _django_database(dsn: str) -> dict[str, Any]:
    from psycopg.conninfo import conninfo_to_dict

    told = conninfo_to_dict(dsn)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    given = {ours: str(told[theirs]) for ours, theirs in names.items() if told.get(theirs)}
    return {"ENGINE": "django.db.backends.postgresql", **given}


async def _finish(dsn: str, pipeline: Any) -> None:
    async with testbed(dsn, [pipeline], migrated=True) as bed:
        await bed.finish()
