"""Commands find the data folder, and the API's address, of a `forebay up` that was started elsewhere."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from forebay.cli import _data_dir
from forebay.cli._common import load_own_settings, load_settings
from forebay.cli.api import base_url
from forebay.settings import Settings


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to be in, outside of any source tree, in a home of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("FOREBAY_DATA_DIR", raising=False)
    monkeypatch.setattr(_data_dir, "__file__", str(tmp_path / "site-packages" / "forebay" / "cli" / "_data_dir.py"))
    folder = tmp_path / "projects" / "one"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def used(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "up.lock").touch()
    return folder


def test_the_folder_that_was_last_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().data_dir == Path("data")
    _data_dir.remember(used(tmp_path / "first"))
    assert load_settings().data_dir == tmp_path / "first"
    used(tmp_path / "projects" / "data")
    assert load_settings().data_dir == tmp_path / "projects" / "data"  # above
    used(Path("data"))
    assert load_settings().data_dir == Path("data")  # here
    monkeypatch.setenv("FOREBAY_DATA_DIR", "other")
    assert load_settings().data_dir == Path("other")


def test_that_of_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_data_dir, "__file__", str(tmp_path / "clone" / "src" / "forebay" / "cli" / "_data_dir.py"))
    data = used(tmp_path / "clone" / "data")
    assert load_settings().data_dir == Path("data")
    (tmp_path / "clone" / "pyproject.toml").touch()
    assert load_settings().data_dir == data


def test_only_a_running_server_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    above = used(tmp_path / "projects" / "data")
    assert load_own_settings().data_dir == Path("data")
    assert capsys.readouterr().err == ""
    assert load_settings().data_dir == load_settings().data_dir == above
    assert capsys.readouterr().err == f"Using the database in {above}; FOREBAY_DATA_DIR names another folder.\n"
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "postgresql://localhost/app")
    assert load_settings().data_dir == Path("data")


class Folder(Exception):
    """The data folder that a command was about to use."""


@pytest.mark.parametrize(
    ("command", "args", "begins"),
    [
        ("up", [], "check_queues"),
        ("worker", [], "check_queues"),
        ("api", [], "with_logins"),
        ("migrate", [], "find_dsn"),
        ("backup", ["all.dump"], "find_dsn"),
        ("restore", [__file__], "_started"),
    ],
)
def test_what_starts_changes_or_copies_a_database_stays_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, args: list[str], begins: str
) -> None:
    def begin(settings: Settings, *_: object) -> None:
        raise Folder(str(settings.data_dir))

    module = import_module("forebay.cli.backup" if command == "restore" else f"forebay.cli.{command}")
    monkeypatch.setattr(module, begins, begin)
    monkeypatch.setattr(module, "watch_parent", lambda _: None, raising=False)
    monkeypatch.setenv("FOREBAY_PIPELINES", "forebay.example")
    used(tmp_path / "projects" / "data")
    with pytest.raises(Folder, match=r"^data$"):
        getattr(module, command).main(args, standalone_mode=False)


def test_a_folder_of_another_account_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used(tmp_path / "projects" / "data")
    if os.getuid() == 0:
        os.chown(tmp_path / "projects" / "data", 4242, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert load_settings().data_dir == Path("data")


def test_an_account_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/none")
    _data_dir.remember(tmp_path)
    assert load_settings().data_dir == Path("data")


def test_links_lead_to_the_port_that_it_serves(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with _data_dir.serving(tmp_path, "http://127.0.0.1:8081"):
        assert base_url(settings) == "http://127.0.0.1:8081"
        assert base_url(Settings(data_dir=tmp_path, api_port=9000)) == "http://127.0.0.1:9000"
    assert base_url(settings) == "http://127.0.0.1:8080"
