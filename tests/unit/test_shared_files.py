"""No file that serves every pipeline names a pipeline: a new pipeline is a package, and changes nothing else."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.packages import packages

ROOT = Path(__file__).parents[2]
SHARED = [
    file
    for folder in ("src/forebay", "scripts")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".sql", ".html", ".js", ".css", ".toml"}
    and "pipelines" not in file.parts
    and ROOT / "src/forebay/web" not in file.parents  # the built web app, which has pages of pipelines
]
# Exceptions: the word means something else, or cannot be removed yet. An exception that is not needed fails as well.
ALLOWED = {
    "src/forebay/services/spreadsheets/": "a sheet is a part of a workbook",
    "src/forebay/services/products/": "a sheet is a table of products; messages name settings and the extra",
    "src/forebay/services/sources/": "messages name settings; `sheet` in a file that declares a source",
    "src/forebay/services/encodings/": "messages name the extra",
    "src/forebay/services/av_files.py": "files of media: pictures, sound and video",
    "src/forebay/services/browser/banners.js": "an element of HTML",
    "src/forebay/testing.py": "an example",
    "src/forebay/api/submit/row_files.py": "a media type",
    "src/forebay/services/browser/": "a kind of resource of pages, and emulated media of style sheets",
    "src/forebay/services/pages/": "an element of HTML, a kind of page, and whether it has sound or video",
    "src/forebay/api/files.py": "`attachment` in Content-Disposition",
    "src/forebay/api/routes/files.py": "the same",
    "src/forebay/api/routes/owner_export.py": "the same",
    "src/forebay/storage/store.py": "the same",
    "scripts/demands.py": "titles of the requirements",
    "scripts/web.py": "a contact sheet, and a style sheet",
}
_NAMES = "|".join(f"{name}|{name.removesuffix('s')}" for name in (package.name for package in packages()))
_MEDIA_TYPES = r"media[ _-]?(?:types?|src)"  # of HTTP and of content security policies
_NAMED = re.compile(rf"(?!{_MEDIA_TYPES})(?<![a-z])(?:{_NAMES})(?![a-z])", re.IGNORECASE)


def _code(file: Path) -> Iterator[tuple[int, str]]:
    """Names and strings with their lines; comments may name a pipeline."""
    text = file.read_text("utf-8")
    if file.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in {tokenize.NAME, tokenize.STRING}:
            yield token.start[0], token.string


def _named(file: Path) -> list[str]:
    return [f"{file.relative_to(ROOT)}:{line}" for line, text in _code(file) if _NAMED.search(text)]


def test_no_shared_file_names_a_pipeline() -> None:
    named = [place for file in SHARED for place in _named(file)]
    assert [place for place in named if not place.startswith(tuple(ALLOWED))] == []
    assert [each for each in ALLOWED if not any(place.startswith(each) for place in named)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('x = "/api/bookmarks"', True),
        ("from forebay.pipelines.sheets import steps", True),
        ("class SheetDoor: pass", False),  # no word of its own; the imports of such are found by the import linter
        ("sheet_id = 1", True),
        ("x = spreadsheets()", False),
        ("x = 1  # for sheets", False),
    ],
)
def test_what_counts_as_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, found: bool) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "new.py").write_text(text)
    assert bool(_named(tmp_path / "new.py")) is found
