"""`forebay bookmarks`: saved, found, brought in and taken out, by the rules of the API."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli._run import Cli, ask


@pytest.fixture
def cli(tmp_path: Path, dsn: str) -> Cli:
    return Cli(tmp_path, FOREBAY_DATABASE_URL=dsn, FOREBAY_PIPELINES="forebay.pipelines", FOREBAY_OWNER="ann")


def test_links_are_saved_and_found(cli: Cli, dsn: str) -> None:
    added = cli.run(
        "bookmarks", "add", "https://a.example/x", "--title", "Water", "--tag", "rivers", "--category", "Wet"
    )
    assert (added.code, added.out) == (0, "bookmark 1: https://a.example/x saved\n")
    again = cli.run("bookmarks", "add", "https://a.example/x#top", "https://b.example", "--json").out.splitlines()
    assert ['"created": false' in line for line in again] == [True, False]
    assert ask(dsn, "select count(*) from forebay.job") == 2  # before any worker has been here
    listed = cli.run("bookmarks", "list", "--tag", "rivers", "--json").json
    assert [(each["id"], each["title"], each["tags"], each["category_id"]) for each in listed] == [
        ("1", "Water", ["rivers"], "1")
    ]
    assert "https://b.example/" in cli.run("bookmarks", "list").out
    assert cli.run("bookmarks", "list", "--archived").out == "There are no such bookmarks.\n"
    assert "Water" in cli.run("bookmarks", "search", "water", "-wine").out
    assert cli.run("bookmarks", "search", "-water", "wine").out == "There are no such bookmarks.\n"
    assert "Water" in cli.run("bookmarks", "search", "tag:rivers", "category:wet").out
    for words, complaint in (("kind:film", "there is no kind 'film'"), ("category:Dry", "there is no category 'Dry'")):
        refused = cli.run("bookmarks", "search", words)
        assert (refused.code, refused.err.startswith(f"forebay: WORDS: {complaint}")) == (2, True), refused.err
    cli.run("submit", "nothing", "{}", "--owner", "bob")
    assert cli.run("bookmarks", "list", "--owner", "zoe").err == (
        "forebay: there is no owner 'zoe': choose another one with --owner\n"
    )


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["https://a.example", "ftp://b.example"], "ftp://b.example: must begin with http:// or https://"),
        (["https://a.example", "--title", "x" * 1001], "--title: must have at most 1000 characters"),
        (["https://a.example", "--tag", "x" * 101], "--tag: must have at most 100 characters"),
    ],
)
def test_what_the_api_would_refuse(cli: Cli, dsn: str, args: list[str], complaint: str) -> None:
    refused = cli.run("bookmarks", "add", *args)
    assert (refused.code, refused.err) == (2, f"forebay: {complaint}\n")
    assert ask(dsn, "select count(*) from forebay.bookmark") == 0


def test_a_large_file_is_imported_and_exported(cli: Cli, dsn: str) -> None:
    links = "".join(f'<DT><A HREF="https://site{n}.example/page">Page {n}</A>\n' for n in range(2000))
    (cli.folder / "large.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{links}</DL><p>\n")
    assert (cli.folder / "large.html").stat().st_size > 65536
    taken = cli.run("bookmarks", "import", "large.html")
    assert (taken.code, taken.out) == (0, "large.html: 2,000 links, job 1\n"), taken.err
    assert ask(dsn, "select file || total from forebay.job") == "large.html2000"
    (cli.folder / "nothing.txt").write_text("words")
    refused = cli.run("bookmarks", "import", "nothing.txt")
    assert refused.err.startswith("forebay: nothing.txt: is not a bookmarks file of a browser")
    cli.run("bookmarks", "add", "https://a.example/x", "--note", "for later")
    written = cli.run("bookmarks", "export", "--format", "json", "--output", "all.json")
    assert written.out.startswith("1 bookmark, ")
    assert "for later" in (cli.folder / "all.json").read_text()
    assert 'HREF="https://a.example/x"' in cli.run("bookmarks", "export").out


def test_who_has_none_is_told_how_to_save_one(cli: Cli, dsn: str) -> None:
    ask(dsn, "insert into forebay.owner (name) values ('ann') returning id")
    assert cli.run("bookmarks", "list").out == "There are no bookmarks yet: `forebay bookmarks add URL` saves one.\n"
