"""Differences of texts."""

from __future__ import annotations

from forebay.services.differences import unified


def test_what_was_removed_and_added_is_told_sentence_by_sentence() -> None:
    before = "title: Mills\nWater turns the wheel. The wheel turns the stone. Flour is made."
    after = "title: Mills\nWater turns the wheel. The wheel turns two stones. Flour is made."
    assert unified(before, after).splitlines() == [
        "@@ -2,3 +2,3 @@",
        " Water turns the wheel.",
        "-The wheel turns the stone.",
        "+The wheel turns two stones.",
        " Flour is made.",
    ]
    assert unified(before, before) == ""


def test_a_long_difference_is_cut_and_says_so() -> None:
    after = "\n".join(f"{n} " + "x" * 1000 for n in range(100))
    found = unified("", after).splitlines()
    assert sum(map(len, found)) < 21_000
    assert found[-1] == f"… {301 - (len(found) - 1)} more lines"  # a heading, and three lines for each of the hundred
    assert max(map(len, found)) <= 501


def test_a_text_without_sentences_is_compared_in_pieces() -> None:
    found = unified("x" * 1000 + "old", "x" * 1000 + "new")
    assert found.splitlines()[1:] == [" " + "x" * 500, "-old", "+new"]
