"""What users type is parsed without surprises, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.search.question import Question, parse
from forebay.search.snippets import parts_of, second_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("old mills", Question("old mills")),
        ('"old mill" weir', Question("old mill weir", '"old mill"')),
        ("mill -wind", Question("mill", "", '"wind"')),
        ('mill -"wind power" -saw', Question("mill", "", '"wind power" or "saw"')),
        ('"unclosed phrase', Question("unclosed phrase", '"unclosed phrase"')),
        ("- -- !!! \0", Question("")),
        ("well-known", Question("well-known")),
    ],
)
def test_words_phrases_and_exclusions(text: str, expected: Question) -> None:
    assert parse(text) == expected


@given(st.text(max_size=500))
def test_any_text_can_be_parsed(text: str) -> None:
    found = parse(text)
    assert "\0" not in found.words
    assert '"' not in found.words
    assert found.phrases.count('"') % 2 == 0
    assert found.excluded.count('"') % 2 == 0


def test_words_are_corrected_but_not_phrases() -> None:
    assert parse("Posgres tables").corrected({"posgres": "postgres"}) == Question("postgres tables")
    assert parse("tables").corrected({}) is None
    assert parse('"posgres"').corrected({"posgres": "postgres"}) is None
    assert parse("a1b2 Posgres the").single_words == ["posgres"]


@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cc"]), min_size=1), st.booleans()), max_size=5))
def test_marked_text_becomes_parts_with_all_of_it(pieces: list[tuple[str, bool]]) -> None:
    marked = "".join(f"\x02{text}\x03" if found else text for text, found in pieces)
    parts = parts_of(marked)
    assert "".join(text for text, _ in parts) == "".join(text for text, _ in pieces)
    assert [text for text, found in parts if found] == [text for text, found in pieces if found]


def test_the_second_of_an_offset() -> None:
    marks = "[[0, 1.5], [10, 4.0]]"
    assert [second_of(marks, at) for at in (0, 9, 10, 99)] == [1.5, 1.5, 4.0, 4.0]
    assert second_of("[[5, 2.0]]", 4) is None  # a description, before what is said
    assert second_of(marks, None) is None
    assert second_of(None, 3) is None
