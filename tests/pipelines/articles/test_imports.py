"""Files of articles: Markdown, HTML, text, PDF and ZIP, also those that want to do harm."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
import pytest_asyncio

from forebay.engine.db import registry
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import DataError
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.articles import reading
from forebay.pipelines.articles.files import FILES
from forebay.pipelines.articles.html_text import markdown_of
from forebay.pipelines.articles.imports import article_file_intake, article_files
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles
from forebay.search.models import embedding_model
from forebay.settings import Settings
from forebay.storage import open_store
from forebay.testing import Testbed, testbed
from tests.pipelines.articles._bed import TinyModel, resource_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import NewDatabase


@dataclass
class Importing:
    bed: Testbed
    conn: asyncpg.Connection[Any]
    settings: Settings

    async def import_file(self, name: str, data: bytes, owner: str = "ann", **options: Any) -> Any:
        """The item of a file, once all that can be done is done."""
        store = open_store(self.settings)
        file = LocalFile(NewFile(name, len(data), options), data)
        added = await submit_file(FILES, self.conn, store, owner, file, FileTerms(None))
        await self.bed.finish()
        return await self.bed.item(added.job_id)

    async def titles(self, owner: str) -> list[tuple[str, str]]:
        found = await self.conn.fetch(
            "select a.slug, a.title from forebay.article a join forebay.owner o on o.id = a.owner_id "
            "where o.name = $1 order by a.slug",
            owner,
        )
        return [(row["slug"], row["title"]) for row in found]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def importing(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Importing]:
    folder = tmp_path_factory.mktemp("imports")
    settings = Settings(data_dir=folder).including(ArticlesSettings(max_characters=100_000))
    pipelines: list[Pipeline[Any]] = [articles, article_files, article_file_intake]
    with new_database() as dsn:
        conn = await asyncpg.connect(dsn)
        for pipeline in pipelines:
            await registry.register(conn, pipeline.definition())
        models = {embedding_model: resource_of(TinyModel())}
        async with testbed(dsn, pipelines, migrated=True, settings=settings, resources=models) as bed:
            yield Importing(bed, conn, settings)
        await conn.close()


def zipped(**entries: bytes | str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 44>>stream\nBT /F1 24 Tf 20 100 Td (Sluice gates) Tj ET\nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
)


async def test_a_zip_becomes_articles_and_is_imported_again(importing: Importing) -> None:
    files: dict[str, bytes | str] = {
        "notes/weir.md": "# The weir\n\nLow dam.",
        "page.html": "<title>Locks</title><h1>Locks</h1><p>Two <b>gates</b>.<script>x</script>",
        "plain.txt": "just words",
        "sluice.pdf": PDF,
        "picture.png": b"\x89PNG",
    }
    item = await importing.import_file("all.zip", zipped(**files), owner="zoe")
    assert item.result["save"] == {"created": 4, "updated": 0, "unchanged": 0, "problems": []}
    assert await importing.titles("zoe") == [
        ("notes-weir", "The weir"),
        ("page", "Locks"),
        ("plain", "plain"),
        ("sluice", "sluice"),
    ]
    assert "Sluice gates" in await importing.conn.fetchval(
        """select v.content from forebay.article_version v join forebay.article a on a.id = v.article_id
           where a.slug = 'sluice'"""
    )
    files["plain.txt"] = "other words"
    again = await importing.import_file("all.zip", zipped(**files), owner="zoe")
    assert again.result["save"] == {"created": 0, "updated": 1, "unchanged": 3, "problems": []}
    priorities = await importing.conn.fetch("select distinct priority from forebay.embedding_tasks where rank = 10")
    assert [row["priority"] for row in priorities] == ["high"]


async def test_entries_that_do_harm_are_left_out(importing: Importing) -> None:
    entries: dict[str, bytes | str] = {
        "good.md": "# Good",
        "../../etc/passwd.md": "x",
        "/abs.md": "x",
        "C:\\evil.md": "x",
        "inner.zip": zipped(a="b"),
        "bomb.txt": b"0" * (4 << 20),
        "binary.txt": b"\x00\x01",
        "broken.pdf": b"%PDF-nothing",
        "long.md": "a" * 100_001,
    }
    out = io.BytesIO(zipped(**entries))
    with zipfile.ZipFile(out, "a") as archive:
        link = zipfile.ZipInfo("link.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    item = await importing.import_file("mixed.zip", out.getvalue(), owner="mallory")
    result = item.result["save"]
    assert result["created"] == 1
    assert {each["name"]: each["reason"] for each in result["problems"]} == {
        "../../etc/passwd.md": "has a path that leads out of the archive",
        "/abs.md": "has a path that leads out of the archive",
        "C:\\evil.md": "has a path that leads out of the archive",
        "inner.zip": "is a ZIP file inside of another",
        "bomb.txt": "is 200 times as large as it is compressed",
        "binary.txt": "is not text in UTF-8, UTF-16 or Windows-1252",
        "broken.pdf": "the file is truncated or damaged, or not a PDF",
        "link.md": "is a link",
        "long.md": "has 100001 characters; FOREBAY_ARTICLES_MAX_CHARACTERS allows 100000",
    }
    assert await importing.titles("mallory") == [("good", "Good")]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.zip", b"PK\x03\x04 broken", "the ZIP file is damaged"),
        ("b.zip", zipped(**{"picture.png": b"x"}), "the file has no articles: no Markdown, HTML, text or PDF"),
        ("c.pdf", b"", "the PDF is empty"),
        ("d.txt", b"\xff\xfe\x00", "is not text in UTF-8"),
    ],
)
async def test_a_file_that_cannot_be_read_says_why(importing: Importing, name: str, data: bytes, reason: str) -> None:
    item = await importing.import_file(name, data or b" ", owner="bad") if data else None
    if item is None:
        with pytest.raises(DataError, match=reason):
            raise DataError(reading._read(name, data).problem or "")  # pyright: ignore[reportPrivateUsage]
        return
    assert item.status == "ERROR"
    assert reason in item.error["reason"]


def test_limits_of_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "many.zip"
    path.write_bytes(zipped(**{f"{n}.md": "abc" for n in range(5)}))
    monkeypatch.setattr(reading, "MOST_ENTRIES", 4)
    with pytest.raises(DataError, match="the ZIP file has 5 entries; 4 are allowed"):
        reading.read_file(path, "many.zip")
    monkeypatch.setattr(reading, "MOST_ENTRIES", 5)
    monkeypatch.setattr(reading, "MOST_TOTAL", 14)
    with pytest.raises(DataError, match="the texts of the ZIP file have more than 14 characters"):
        reading.read_file(path, "many.zip")
    monkeypatch.setattr(reading, "MOST_BYTES", 2)
    (tmp_path / "x.md").write_text("abc")
    with pytest.raises(DataError, match="the file has more than 2 bytes"):
        reading.read_file(tmp_path / "x.md", "x.md")
    monkeypatch.setattr(reading, "MOST_TOTAL", 100)
    assert {each.problem for each in reading.read_file(path, "many.zip")} == {"has more than 2 bytes"}
    (tmp_path / "x").write_text("a")
    with pytest.raises(DataError, match=r"is none of \.md"):
        reading.read_file(tmp_path / "x", "x.exe")


def test_a_protected_or_damaged_entry_is_left_out(tmp_path: Path) -> None:
    data = bytearray(zipped(**{"a.md": "abc" * 100}))
    place = data.index(b"PK\x01\x02")
    data[place + 8] |= 1
    (tmp_path / "protected.zip").write_bytes(data)
    assert reading.read_file(tmp_path / "protected.zip", "a.zip")[0].problem == "is protected by a password"
    data = bytearray(zipped(**{"a.md": "abc" * 100}))
    data[40] ^= 0xFF
    (tmp_path / "damaged.zip").write_bytes(data)
    assert str(reading.read_file(tmp_path / "damaged.zip", "a.zip")[0].problem).startswith("cannot be unpacked: ")


def test_html_becomes_markdown() -> None:
    title, text = markdown_of(
        "<head><title> A &amp; B </title><style>p{}</style></head><h2>Head</h2><ul><li>one<li>"
        "<a href='https://x.org/a'>two</a></ul>"
        "<p>1 * 2 <em>three</em><br>four <a href='javascript:x'>five</a></p><pre>a  *b*</pre>"
        "<script>evil()</script>"
    )
    assert title == "A & B"
    assert text.splitlines() == [
        "## Head",
        "",
        "- one",
        "- [two](https://x.org/a)",
        "",
        "1 \\* 2 *three*  ",
        "four five",
        "",
        "```",
        "a  *b*",
        "```",
    ]
    assert len(markdown_of("<div>" * 20_000)[1]) < 10_000


async def test_a_file_of_another_kind_is_not_accepted(importing: Importing) -> None:
    assert FILES.check_name(importing.settings, "a.MD") is None
    assert FILES.check_name(importing.settings, "a.exe") == (
        "is not a file of articles; accepted are .md, .markdown, .html, .htm, .txt, .pdf, .zip"
    )
