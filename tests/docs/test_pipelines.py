"""The package that docs/howto/pipelines.md leads through: built, installed, migrated, run and uninstalled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from hatchling.build import build_wheel

from forebay.engine.db import registry
from forebay.example import Text, texts
from forebay.identity import db as identity
from forebay.identity.accounts import make_token
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.packages import PipelinePackage
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.testing import testbed
from tests.api._service import serving
from tests.docs._blocks import ROOT, blocks, execute, files

NOTES = ("Hello world", "more words than allowed here")


class Environment:
    """A virtual environment with forebay and pip's doings, on one database."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self.python = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
        (self.site / "forebay.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "PYTHON"))}
        own = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_DATA_DIR": str(folder / "data"), "FOREBAY_LOG_JSON": "true"}
        self.env = {**kept, **own, "FOREBAY_NOTES_MAX_WORDS": "3"}
        self.folder = folder

    def pip(self, *args: str) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, *args], check=True)

    def add_broken_package(self) -> None:
        """One that names a module that is not there: the others must work on."""
        about = self.site / "broken-1.0.dist-info"
        about.mkdir()
        (about / "entry_points.txt").write_text("[forebay.pipelines]\nbroken = gone_for_good:package\n")

    def run(self, *args: str) -> str:
        command = [str(self.python), "-m", "forebay", *args]
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def running(self, *args: str) -> Iterator[Iterator[dict[str, Any]]]:
        """A command that goes on, and the events that it logs."""
        command = [str(self.python), "-m", "forebay", *args]
        with subprocess.Popen(command, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                yield (json.loads(line) for line in process.stderr)
            finally:
                process.kill()


def event(events: Iterator[dict[str, Any]], name: str) -> dict[str, Any]:
    seen: list[dict[str, Any]] = []
    for each in events:
        if each["event"] == name:
            return each
        seen.append(each)
    raise AssertionError(f"there was no {name} among {seen}")


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The distribution, of the files as the page has them."""
    source = tmp_path / "forebay-notes"
    for name, text in files("docs/howto/pipelines.md").items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, "utf-8")
    monkeypatch.chdir(source)
    return tmp_path / build_wheel(str(tmp_path))


async def _tokens(dsn: str) -> dict[str, str]:
    conn: asyncpg.Connection[Any] = await asyncpg.connect(dsn)
    try:
        tokens: dict[str, str] = {}
        for name, role, scopes in (
            ("mia", "user", ["read", "write"]),
            ("joe", "user", ["read"]),
            ("ops", "admin", ["admin"]),
        ):
            account = await identity.add_account(conn, name, role, None)
            assert account is not None
            tokens[name] = await make_token(conn, account.id, "test", scopes)
        return tokens
    finally:
        await conn.close()


async def test_the_package_of_the_page(dsn: str, wheel: Path, tmp_path: Path) -> None:
    env = Environment(tmp_path / "venv", dsn)
    env.pip("install", "--no-index", "--no-deps", str(wheel))
    env.add_broken_package()
    migrated = json.loads(env.run("migrate", "--service", "--pipelines", "forebay.pipelines", "--json"))
    assert migrated["versions"]["notes"] == 1
    tokens = await _tokens(dsn)
    with env.running("api", "--port", "0") as events:
        assert event(events, "package_left_out")["entry_point"] == "broken = gone_for_good:package"
        address = event(events, "api_started")["address"]
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            await _use_it(env, client, {name: {"authorization": f"Bearer {token}"} for name, token in tokens.items()})
    assert env.run("notes") == "    2  Hello world\n"
    env.pip("uninstall", "--yes", "forebay-notes")
    assert not list(env.site.glob("forebay_notes*"))
    shown = env.run("--help")
    assert "  bookmarks " in shown
    assert "  notes " not in shown
    assert "Warning: the pipeline package broken = gone_for_good:package is left out" in " ".join(shown.split())
    await _works_without_it(dsn)
    env.pip("install", "--no-index", "--no-deps", str(wheel))
    assert "\ntable forebay.note\n" in env.run(*_command("migrate --remove notes --dry-run"))
    assert ": removed notes, dropped " in env.run(*_command("migrate --remove notes"), "--yes")
    assert env.run("migrate") != ""  # as after another install
    assert env.run("notes") == ""


def _command(text: str) -> list[str]:
    """The arguments of a command that the page has."""
    assert f"$ forebay {text}\n" in (ROOT / "docs/howto/pipelines.md").read_text("utf-8")
    return text.split()


async def _use_it(env: Environment, client: httpx.AsyncClient, of: dict[str, dict[str, str]]) -> None:
    for text in NOTES:
        job = {"pipeline": "notes", "input": {"text": text}}
        made = await client.post("/api/jobs", json=job, headers=of["mia"])
        assert made.status_code == 201, made.text
    with env.running("worker") as events:
        assert event(events, "package_left_out")["fix"] == "fix or upgrade broken, or: pip uninstall broken"
        for _ in NOTES:
            event(events, "job_finished")
    second = (await client.get("/api/jobs/2", headers=of["mia"])).json()
    assert second["lastError"]["reason"] == "the note has 5 words; FOREBAY_NOTES_MAX_WORDS allows 3"
    listed = (await client.get("/api/notes", headers=of["mia"])).json()
    assert listed == [{"id": "1", "text": "Hello world", "words": 2}]
    assert (await client.get("/api/notes", headers=of["joe"])).json() == []
    assert "\nforebay_notes 1.0\n" in (await client.get("/metrics", headers=of["ops"])).text
    assert "/api/notes" in (await client.get("/api/openapi.json", headers=of["mia"])).json()["paths"]


async def _works_without_it(dsn: str) -> None:
    """This process never had the package: its table is there, and is left alone."""
    async with serving(dsn) as service, service.client("root") as root:
        assert (await root.get("/api/notes")).status_code == 404
        assert (await root.get("/api/bookmarks")).json()["bookmarks"] == []
        assert (await root.get("/readyz")).status_code == 200
        assert "forebay_notes" not in (await root.get("/metrics")).text
        assert await service.admin.fetchval("select text from forebay.note") == "Hello world"
    async with testbed(dsn, [texts]) as bed:
        job = await bed.submit(texts, Text(title="t", body="All else works."))
        await bed.finish()
        assert (await bed.job(job)).done == 1


async def test_the_target_of_the_page(dsn: str, tmp_path: Path) -> None:
    (example,) = (block for block in blocks("docs/howto/pipelines.md", "python") if "IntakeTarget(" in block)
    space = execute("docs/howto/pipelines.md", example)
    target, settings = space["FILES"], Settings(data_dir=tmp_path).including(space["ScriptsSettings"]())
    pipelines = [space["scripts"], space["scripts_intake"], space["scripts_scans"]]
    async with testbed(dsn, pipelines, migrated=True, settings=settings) as bed, bed.pool.acquire() as conn:
        for pipeline in pipelines:
            await registry.register(conn, pipeline.definition())
        file = LocalFile(NewFile("play.txt", 10), b"one\ntwo\n..")
        added = await submit_file(target, conn, open_store(settings), "ann", file, FileTerms())
        await bed.finish()
        assert (
            await conn.fetchval("select result ->> 'count_lines' from forebay.item where job_id = $1", added.job_id)
            == "3"
        )


def test_every_field_of_the_manifest_is_on_the_page() -> None:
    page = (ROOT / "docs/howto/pipelines.md").read_text("utf-8")
    assert not [name for name in PipelinePackage._fields[2:] if f"`{name}`" not in page]
