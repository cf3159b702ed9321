"""Packages are found by their entry points; one that does not work is named, and the others work on."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console
from structlog.testing import capture_logs

from forebay import pipelines
from forebay.api.models import Reprocess
from forebay.api.pages import page
from forebay.cli import cli
from forebay.cli._guide import Guide
from forebay.cli._pipelines import log_failures
from forebay.cli.doctor import _left_out, _package_checks  # pyright: ignore[reportPrivateUsage]
from forebay.cli.up import print_warnings
from forebay.db.schema_parts import package_parts
from forebay.engine.declare.loading import load_pipelines
from forebay.entry_points import EntryPoint, entry_points
from forebay.hooks import Finding
from forebay.packages import Failure, failures, job_hooks, packages
from forebay.settings import Settings
from tests._packages import Installed, installed

BUILT_IN = sorted(
    file.parent.name
    for file in Path(pipelines.__path__[0]).glob("*/__init__.py")
    if "PipelinePackage(" in file.read_text("utf-8")
)
MANIFEST = """
from forebay.packages import Chore, Command, PipelinePackage
package = PipelinePackage("{name}", __name__, {parts})
"""
STEPS = """
from forebay import Context, Pipeline
{name} = Pipeline("{name}", dict)
@{name}.step()
def count(ctx: Context, given: dict) -> int:
    return len(given)
"""


@pytest.fixture(name="installed")
def _installed(tmp_path: Path) -> Iterator[Installed]:
    with installed(tmp_path) as found:
        yield found


def manifest(name: str, parts: str = 'pipelines=("steps",)') -> str:
    return MANIFEST.format(name=name, parts=parts)


def test_the_same_entry_points_are_found_as_python_finds() -> None:
    def named(group: str) -> set[tuple[str, str]]:
        return {(point.name, point.value) for point in entry_points(group)}

    for group in ("console_scripts", "pytest11"):
        theirs = {(point.name, point.value.partition(" [")[0]) for point in metadata.entry_points(group=group)}
        assert theirs
        assert named(group) == theirs


def test_entry_points_are_read_as_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, value in ((first, "seen:package"), (second, "hidden:package")):
        (folder / "My_Notes-1.0.dist-info").mkdir(parents=True)
        (folder / "My_Notes-1.0.dist-info" / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[forebay.pipelines]\n# a comment\nnotes = {value} [extra]\nb=c : d.e\n"
        )
    (second / "Broken-1.0.egg-info").mkdir()
    (second / "Broken-1.0.egg-info" / "entry_points.txt").write_bytes(b"[forebay.pipelines]\n\xff")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "not there"), str(first), str(second)])
    assert entry_points("forebay.pipelines") == [
        EntryPoint("b", "c:d.e", "my-notes"),
        EntryPoint("notes", "seen:package", "my-notes"),
    ]


def test_an_installed_package_is_one_of_them(installed: Installed) -> None:
    parts = 'pipelines=("steps",), commands={"jot": Command("commands", "Jot it down.")}, first_steps={"Jot": "jot X"}'
    installed.add("jots", {"__init__.py": manifest("jots", parts), "steps.py": STEPS.format(name="jots")})
    *own, last = [package.name for package in packages()]
    assert (own, last) == (sorted(own), "jots")
    assert {"bookmarks", "housekeeping", "sheets"} <= {*own}
    assert failures() == ()
    assert "jots" in [pipeline.name for pipeline in load_pipelines(["forebay.pipelines"])]
    assert re.search(r"^  jot +Jot it down\.$", CliRunner().invoke(cli, ["--help"]).output, re.MULTILINE)
    assert any("jot X" in line.plain for line in Guide(None).lines())


def test_packages_that_do_not_work_are_left_out_and_named(installed: Installed) -> None:
    installed.add("gone", {}, "gone = gone_for_good:package")
    installed.add("other", {"__init__.py": "package = 5"})
    installed.add("twin", {"__init__.py": manifest("sheets")})
    installed.add("faulty", {"__init__.py": manifest("faulty"), "steps.py": "1 / 0"})
    installed.add("double", {"__init__.py": manifest("double"), "steps.py": STEPS.format(name="sheets")})
    installed.add("fine", {"__init__.py": manifest("fine"), "steps.py": STEPS.format(name="fine")})
    loaded = {pipeline.name: pipeline for pipeline in load_pipelines(["forebay.pipelines"])}
    assert "fine" in loaded
    assert "look_up" in loaded["sheets"].steps  # forebay's own
    told = {failure.entry_point: failure.reason for failure in failures()}
    assert told == {
        "gone = gone_for_good:package": "ModuleNotFoundError: No module named 'gone_for_good'",
        "other = other:package": "TypeError: it is not a PipelinePackage but int",
        "twin = twin:package": "its name 'sheets' is that of forebay.pipelines.sheets already",
        "faulty = faulty:package": "DefinitionError: module 'faulty.steps' cannot be imported: "
        "ZeroDivisionError: division by zero",
        "double = double:package": "DefinitionError: pipeline 'sheets' is declared twice: in "
        "'forebay.pipelines.sheets.steps' and in 'double.steps'",
    }
    gone = Failure("gone = gone_for_good:package", "gone", told["gone = gone_for_good:package"])
    finding = next(finding for finding in _left_out() if "gone" in finding.text)
    assert finding == Finding("FAIL", "packages", str(gone), "fix or upgrade gone, or: pip uninstall gone")
    assert str(gone).startswith("the pipeline package gone = gone_for_good:package is left out: ModuleNotFoundError")
    with capture_logs() as logs:
        log_failures()
    assert [(log["event"], log["log_level"]) for log in logs] == [("package_left_out", "error")] * 5
    assert {log["entry_point"] for log in logs} == told.keys()


def test_help_works_and_says_what_is_wrong(installed: Installed) -> None:
    installed.add("gone", {}, "gone = gone_for_good:package")
    shown = CliRunner().invoke(cli, ["--help"])
    assert shown.exit_code == 0
    assert "  worker " in shown.output
    said = " ".join(shown.output.split())
    assert "Warning: the pipeline package gone = gone_for_good:package is left out: ModuleNotFoundError" in said
    assert "Fix or upgrade gone, or: pip uninstall gone" in said


def test_up_says_what_it_goes_on_without(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOREBAY_LISTN", "1")
    installed.add("gone", {}, "gone = gone_for_good:package")
    out = Console(file=io.StringIO(), width=80)
    print_warnings(out)
    shown = out.file.getvalue() if isinstance(out.file, io.StringIO) else ""
    assert "FOREBAY_LISTN is not a setting and has no effect: did you mean FOREBAY_LISTEN?\n" in shown
    assert shown.endswith(
        "the pipeline package gone = gone_for_good:package is left out: ModuleNotFoundError: No module named "
        "'gone_for_good'. Fix or upgrade gone, or: pip uninstall gone\n"
    )


def test_a_package_with_the_name_of_a_part_of_forebay_is_left_out(installed: Installed) -> None:
    installed.add("their_engine", {"__init__.py": manifest("engine"), "sql/migrations/0001_tables.sql": ""})
    parts = [part.name for part in package_parts()]
    assert parts == sorted({*parts})
    assert {"bookmarks", "sheets"} <= {*parts}
    assert "engine" not in parts
    reason = "DefinitionError: their_engine has the name 'engine', which forebay uses itself: rename it"
    assert [failure.reason for failure in failures()] == [reason]


def test_two_packages_with_a_name_in_common_are_named(installed: Installed) -> None:
    command = 'commands={"%s": Command("commands", "Jot it down.")}'
    chore = 'chores=(Chore("%s", "0 4 * * *", "chores:run"),)'
    installed.add("jots", {"__init__.py": manifest("jots", f"{command % 'jot'}, {chore % 'dust'}")})
    installed.add("more_jots", {"__init__.py": manifest("more", command % "jot")})
    installed.add("own_jots", {"__init__.py": manifest("own", command % "worker")})
    installed.add("old_jots", {"__init__.py": manifest("old", command % "ingest")})
    installed.add("swept", {"__init__.py": manifest("swept", chore % "dust")})
    installed.add("idle", {"__init__.py": manifest("idle", chore % "crawl again")})
    assert re.search(r"^  jot +Jot it down\.$", CliRunner().invoke(cli, ["--help"]).output, re.MULTILINE)
    told = {failure.entry_point.partition(" ")[0]: failure.reason for failure in failures()}
    taken = "DefinitionError: the {} is one of {} already: rename it"
    assert told == {
        "more_jots": taken.format("command 'jot' of more_jots", "jots"),
        "own_jots": taken.format("command 'worker' of own_jots", "forebay"),
        "old_jots": taken.format("command 'ingest' of old_jots", "forebay.pipelines.sheets"),
        "idle": taken.format("chore 'crawl again' of idle", "forebay.pipelines.bookmarks"),
        "swept": taken.format("chore 'dust' of swept", "jots"),
    }
    assert any("command 'worker' of own_jots" in finding.text for finding in _left_out())


def test_pages_link_to_those_of_packages(installed: Installed) -> None:
    installed.add("jots", {"__init__.py": manifest("jots", 'page_links={"/jots": "Jots & more"}')})
    text = bytes(page("sign_in", "Sign in").body).decode()
    assert '<nav><a href="/save">Save a link</a> · <a href="/jots">Jots &amp; more</a> · <a href=' in text


def test_what_a_reprocess_takes_is_in_the_schema() -> None:
    schema = Reprocess.model_json_schema(by_alias=True)
    assert {"scope", "resetAttempts", "providers"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


async def test_checks_of_packages_are_made(installed: Installed) -> None:
    checks = """
from forebay.hooks import Finding
async def check(settings):
    return [Finding("WARN", "ink", "is low", "buy some")]
"""
    installed.add("inky", {"__init__.py": manifest("inky", 'checks=("checks:check",)'), "checks.py": checks})
    installed.add("blot", {"__init__.py": manifest("blot", 'checks=("absent:check",)')})
    found = await _package_checks(Settings())
    assert Finding("WARN", "ink", "is low", "buy some") in found
    assert [failure.reason for failure in failures()] == ["ModuleNotFoundError: No module named 'blot.absent'"]


async def test_a_pipeline_without_hooks_has_the_defaults(installed: Installed) -> None:
    installed.add("jots", {"__init__.py": manifest("jots", 'jobs={"jots": "absent:Hooks"}')})
    assert job_hooks("jots").reprocess_options is None
    assert [failure.reason for failure in failures()] == ["ModuleNotFoundError: No module named 'jots.absent'"]
    hooks = job_hooks("nobody knows it")
    assert hooks.reprocess_options is None
    # None of them looks at what it is given.
    nothing: None = None
    assert await hooks.problem(nothing, 1) is None  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
