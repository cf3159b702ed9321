"""`forebay articles`."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from forebay.errors import InvalidField
from forebay.pipelines.articles import commands
from tests.cli._run import Cli, ask

if TYPE_CHECKING:
    from pathlib import Path


def test_articles_are_added_listed_shown_imported_and_queued(cli: Cli, dsn: str, tmp_path: Path) -> None:
    text = tmp_path / "notes.md"
    text.write_text("# My notes\n\nSome *words*.", "utf-8")
    added = cli.run("articles", "add", str(text), "--owner", "ann", "--priority", "high", "--json").json
    assert (added["title"], added["slug"], added["embedding"]) == ("My notes", "my-notes", "waiting")
    bad = cli.run("articles", "add", str(text), "--owner", "ann", "--slug", "a/b")
    assert "--slug" in bad.err
    (listed,) = cli.run("articles", "list", "--owner", "ann", "--embedding", "waiting", "--json").json
    assert listed["id"] == added["id"]
    assert "My notes" in cli.run("articles", "list", "--owner", "ann").out
    assert "There are no such articles" in cli.run("articles", "list", "--owner", "ann", "--embedding", "failed").out
    assert cli.run("articles", "show", "my-notes", "--owner", "ann").out == "# My notes\n\nSome *words*.\n"
    assert "<em>words</em>" in cli.run("articles", "show", added["id"], "--html", "--owner", "ann").out
    missing = cli.run("articles", "show", "other", "--owner", "ann")
    assert missing.err == "forebay: there is no article 'other'\n"
    nobody = cli.run("articles", "list", "--owner", "zoe")
    assert nobody.err == "forebay: there is no owner 'zoe': choose another one with --owner\n"
    assert "1 pending" in cli.run("articles", "stats").out
    assert cli.run("articles", "stats", "--json").json == {"pending": 1, "processing": 0, "completed": 0, "failed": 0}
    assert cli.run("articles", "reindex", "--owner", "ann").out == "All articles are embedded.\n"
    ask(dsn, "update forebay.article set embedding = 'stale'")
    assert cli.run("articles", "reindex", "--owner", "ann", "--json").json["items"] == 1
    assert cli.run("articles", "reindex", "--failed", "--owner", "ann").out == "0 tasks will run again\n"
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_text("a")
    assert "shows its progress" in cli.run("articles", "import", str(folder), "--owner", "ann").out
    (tmp_path / "x.exe").write_text("x")
    assert "is not a file of articles" in cli.run("articles", "import", str(tmp_path / "x.exe"), "--owner", "ann").err


def test_a_folder_is_packed_without_links_and_hidden_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "b.md").write_text("b")
    (folder / ".hidden.md").write_text("h")
    (folder / "image.png").write_text("p")
    (folder / "link.md").symlink_to("/etc/passwd")
    with pytest.raises(InvalidField, match="has 0 articles; between 1 and 5000 can be imported at once"):
        commands.pack(folder, tmp_path / "out.zip")
    (folder / "a.md").write_text("a")
    commands.pack(folder, tmp_path / "out.zip")
    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        assert packed.namelist() == ["a.md"]
