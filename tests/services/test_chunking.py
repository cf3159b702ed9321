"""Texts are cut at their own breaks; nothing is lost, nothing is too long, and a change moves few chunks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.services.chunking import chunk_text


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def letters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def pieces(text: str, budget: int, overlap: int = 0) -> list[str]:
    return [text[each.start : each.stop] for each in chunk_text(text, words, budget=budget, overlap=overlap)]


def test_chunks_begin_at_headings_paragraphs_and_sentences() -> None:
    text = "# One\n\nFirst of it. Second of it.\n\nAnother paragraph here.\n\n# Two\n\nIts text."
    assert pieces(text, 9) == ["# One\n\nFirst of it. Second of it.", "Another paragraph here.", "# Two\n\nIts text."]
    assert pieces("One two three. Four five six. Seven.", 4) == ["One two three.", "Four five six. Seven."]
    assert pieces("One two. Three four. Five six.", 4, overlap=2) == ["One two. Three four.", "Three four. Five six."]
    assert pieces("a b c d e f", 3) == ["a b c", " d e f"]
    assert pieces(" \n\n ", 3) == []


def test_a_repeated_chunk_is_given_once_and_the_context_changes_its_hash() -> None:
    text = "Same words. " * 2
    assert len(chunk_text(text, words, budget=2)) == 1
    one, other = (chunk_text("Text.", words, budget=2, context=title)[0].hash for title in ("a", "b"))
    assert one != other


@pytest.mark.parametrize(("budget", "overlap"), [(0, 0), (5, 5), (5, -1)])
def test_budgets_must_have_room(budget: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="budget must be at least 1, and overlap less than it"):
        chunk_text("x", words, budget=budget, overlap=overlap)


_TEXTS = st.lists(
    st.sampled_from(["mill", "weir", ".", "! ", "\n", "\n\n", "# ", " ", "ß。", "\t", "a" * 40, "\ud800", "😀"]),
    max_size=60,
).map("".join)


@given(_TEXTS | st.text(max_size=300), st.integers(1, 30), st.integers(0, 10))
def test_nothing_is_lost_and_nothing_is_too_long(text: str, budget: int, overlap: int) -> None:
    found = chunk_text(text, letters, budget=budget, overlap=min(overlap, budget - 1))
    assert [each.start for each in found] == sorted({each.start for each in found})
    assert [each.stop for each in found] == sorted({each.stop for each in found})
    kept = {text[each.start : each.stop] for each in found}
    covered = {place for each in found for place in range(each.start, each.stop)}
    for start in range(len(text)):
        assert start in covered or text[start].isspace() or any(text[start] in each for each in kept)
    assert all(each.start < each.stop for each in found)


def test_a_change_at_the_beginning_changes_few_chunks() -> None:
    text = "\n\n".join(f"Paragraph {n} speaks of {n * 7919 % 1000} things, one after another." for n in range(400))
    before = {each.hash for each in chunk_text(text, words, budget=60, overlap=10)}
    after = {
        each.hash for each in chunk_text("A new beginning of some words.\n\n" + text, words, budget=60, overlap=10)
    }
    assert len(after - before) <= 4
