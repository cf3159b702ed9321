"""SQL files: one routine per file, named after it, and a first line that describes it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from forebay.db.schema_parts import SchemaPart, all_parts

ROOT = Path(__file__).parents[2] / "src" / "forebay"
FILES = sorted(ROOT.glob("**/sql/*/**/*.sql"))
ROUTINES = [file for file in FILES if "routines" in file.parts]
_MADE = re.compile(r"^create or replace (?:function|view) forebay\.(\w+)", re.MULTILINE)
_SOURCE = {".sql", ".py"}
_SHARED_NAMES = {"file"}  # also a setting of the session, which says what a job was made of
_HELPED = {"harmless": {"harmless_parts"}}  # by a function that nothing else calls


def test_every_file_opens_with_what_it_is_for() -> None:
    assert len(FILES) > 300
    assert [str(file) for file in FILES if not re.match(r"-- \w.{10,}", file.read_text("utf-8"))] == []


def test_a_file_has_one_routine_and_its_name() -> None:
    assert len(ROUTINES) > 150
    for file in ROUTINES:
        made = set(_MADE.findall(file.read_text("utf-8")))
        assert made <= {file.stem} | _HELPED.get(file.stem, set()), file


def test_a_routine_belongs_to_one_part() -> None:
    names = Counter(name for part in all_parts() for name in _MADE.findall(part.routines))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("part", all_parts(), ids=lambda part: part.name)
def test_migrations_are_numbered_from_one(part: SchemaPart) -> None:
    assert [migration.version for migration in part.migrations] == list(range(1, part.newest + 1))


def test_the_engine_and_the_migrator_name_nothing_of_other_parts() -> None:
    """Neither their tables, nor their functions, nor their roles; not in statements that Python files have, either."""
    engine, *others = all_parts()
    made = re.compile(r"create (?:table|type|(?:or replace )?(?:function|view)) forebay\.(\w+)")
    theirs = {name for part in others for text in _texts(part) for name in made.findall(text)}
    theirs -= {name for text in _texts(engine) for name in made.findall(text)}
    assert {"account", "own", "blob", "idempotency", "make_login", "enter", "offer_pgmq"} <= theirs
    for file in sorted(
        file for name in ("engine", "db") for file in (ROOT / name).rglob("*") if file.suffix in _SOURCE
    ):
        text = file.read_text("utf-8")
        assert not set(re.findall(r"\bforebay\.(\w+)(?=[\s(,;'\"]|$)", text)) & theirs - _SHARED_NAMES, file
        if file.suffix == ".sql":
            assert not re.search(r"\bforebay_(?!aside\b|\[)", text), file


def _texts(part: SchemaPart) -> list[str]:
    return [part.routines, *(migration.sql for migration in part.migrations)]
