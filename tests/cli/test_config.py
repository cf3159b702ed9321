"""`forebay config` and `forebay completion`: what is set, and what the shell knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forebay.base_settings import SettingsBase
from forebay.cli._common import place_of
from forebay.packages import settings_classes
from forebay.settings import Settings
from tests.cli._run import Cli

URL = "postgresql://ann:hunter2@127.0.0.1:1/app"


@pytest.fixture
def bare(tmp_path: Path) -> Cli:
    """Without a database: these commands need none."""
    return Cli(tmp_path)


def test_every_setting_says_where_it_comes_from(bare: Cli) -> None:
    (bare.folder / ".env").write_text(
        "FOREBAY_PROCESSES=3\nFOREBAY_POOL_SIZE=7\nFOREBAY_POOLSIZE=7\nOTHER=1\nFOREBAY_DB_P50_MS=3\n"
    )
    shown = bare.run("config", "--json", FOREBAY_PROCESSES="4", FOREBAY_DATABASE_URL=URL, FOREBAY_LISTN="no").json
    by_name: dict[str, Any] = {line["variable"]: line for line in shown["settings"]}
    kinds: list[tuple[str | None, type[SettingsBase]]] = [(None, Settings), *settings_classes().items()]
    listed = [(package, kind.variable(name)) for package, kind in kinds for name in kind.model_fields]
    assert [(line["package"], name) for name, line in by_name.items()] == listed
    assert all(line["meaning"] for line in by_name.values())
    wanted = {
        "FOREBAY_PROCESSES": (4, "environment"),
        "FOREBAY_POOL_SIZE": (7, ".env"),
        "FOREBAY_DATA_DIR": (str(bare.folder / "data"), "environment"),
        "FOREBAY_LOG_JSON": (None, "default"),
        "FOREBAY_SHEETS_DB_P50_MS": (3.0, ".env"),
        "FOREBAY_LISTEN": (True, "default"),
        "FOREBAY_DATABASE_URL": ("**********", "environment"),
    }
    assert {name: (by_name[name]["value"], by_name[name]["source"]) for name in wanted} == wanted
    assert shown["unknown"] == ["FOREBAY_LISTN", "FOREBAY_POOLSIZE"]


def test_it_is_shown_to_people_without_secrets(bare: Cli) -> None:
    shown = bare.run("config", FOREBAY_DATABASE_URL=URL, FOREBAY_LISTN="no")
    assert shown.code == 0
    assert "number of worker processes" in shown.out
    assert "hunter2" not in shown.out + shown.err
    assert shown.err == "FOREBAY_LISTN is not a setting and has no effect: did you mean FOREBAY_LISTEN?\n"
    assert bare.run("config", FOREBAY_POOL_SIZE="many").code == 2
    wrong = bare.run("config", FOREBAY_DB_P95_MS="soon")
    assert (wrong.code, wrong.err) == (2, "forebay: FOREBAY_SHEETS_DB_P95_MS: must be a number; it is 'soon'\n")


@pytest.mark.parametrize(
    ("dsn", "place"),
    [
        (URL, "127.0.0.1:1/app"),
        ("host=db password=hunter2", "a database whose address cannot be read"),
        ("postgresql://ann:12/hunter2@db/app", "a database whose address cannot be read"),
    ],
)
def test_a_place_has_no_password(dsn: str, place: str) -> None:
    assert place_of(dsn) == place


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(bare: Cli, shell: str) -> None:
    script = bare.run("completion", shell)
    assert script.code == 0
    assert f"_FOREBAY_COMPLETE={shell}_complete" in script.out
    assert bare.run("completion", "csh").code == 2


@pytest.mark.parametrize(
    ("line", "completed"), [("forebay us", "plain,users"), ("forebay tokens add x --s", "plain,--service")]
)
def test_what_is_begun_is_completed(bare: Cli, line: str, completed: str) -> None:
    words = line.split()
    asked = {"_FOREBAY_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [Path(sys.executable).with_name("forebay")],
        cwd=bare.folder,
        env={**bare.env, **asked},
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed in done.stdout.splitlines()
