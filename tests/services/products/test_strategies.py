"""Rows are asked about by one strategy after the other, and reprocessing changes who is asked first."""

# demands: S5-72, S5-92

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.services.products.columns import FieldName
from forebay.services.products.normalizing import Value
from forebay.services.products.strategies import (
    BY_NAME,
    NAMES,
    ProviderQuery,
    Query,
    asks,
    key_words,
    ranked,
    rounds,
)


@dataclass(frozen=True)
class Shop:
    name: str
    strategies: tuple[str, ...] = NAMES


FULL: dict[FieldName, Value] = {
    "gtin": "4006381333931",
    "mpn": "88/1",
    "sku": "A-1",
    "brand": "Stabilo",
    "title": "Pen (blue) with cap",
}
A, B, C = Shop("a"), Shop("b", ("gtin", "title")), Shop("c", ("title_brand",))


def _names(made: list[list[ProviderQuery]]) -> list[str]:
    return [f"{each[0].query.strategy}:{','.join(ask.provider for ask in each)}" for each in made]


def test_rounds_go_from_exact_to_fuzzy_and_ask_whom_they_can() -> None:
    made = rounds(FULL, [A, B, C])
    assert _names(made) == ["gtin:a,b", "mpn_brand:a", "sku:a", "title_brand:a,c", "title:a,b", "fuzzy_title:a"]
    assert made[-1][0].query == Query("fuzzy_title", {"title": "Pen cap"})
    assert made[3][0].query.values == {"title": "Pen (blue) with cap", "brand": "Stabilo"}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, []),
        ({"brand": "Stabilo", "price": "5.00"}, []),
        ({"mpn": "1"}, []),
        ({"sku": "1"}, ["sku:a"]),
        ({"title": "Pen cap"}, ["title:a"]),  # the fuzzy question would be the same
    ],
)
def test_a_row_is_asked_about_by_what_it_has(fields: dict[FieldName, Value], names: list[str]) -> None:
    assert _names(rounds(fields, [A])) == names


def test_priority_and_turns_change_who_is_first() -> None:
    shops = [A, B, C]
    assert [each.name for each in ranked(shops)] == ["a", "b", "c"]
    assert [each.name for each in ranked(shops, ["c", "x", "b"])] == ["c", "b", "a"]
    assert [[each.name for each in ranked(shops, rotation=rotation)] for rotation in (1, 2, 3)] == [
        ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"],
    ]  # fmt: skip
    assert ranked([], rotation=5) == []


ROUNDS = rounds(FULL, [A])


@given(st.integers(1, 12), st.integers(0, 6))
def test_all_attempts_together_ask_everything_once(attempts: int, count: int) -> None:
    shares = [asks(ROUNDS[:count], nothing, attempts, is_last=nothing == attempts - 1) for nothing in range(attempts)]
    taken = [ask for share in shares for ask in share]
    expected = [ask for each in ROUNDS[:count] for ask in each]
    assert taken[: len(expected)] == expected
    assert len(taken) == max(attempts, count) if count else not taken


def test_an_attempt_takes_its_share_and_begins_again_after_the_last() -> None:
    def strategies(nothing: int, attempts: int, *, is_last: bool = False) -> list[str]:
        return [ask.query.strategy for ask in asks(ROUNDS, nothing, attempts, is_last=is_last)]

    assert strategies(0, 2) == ["gtin", "mpn_brand", "sku"]
    assert strategies(1, 2) == strategies(1, 2, is_last=True) == ["title_brand", "title", "fuzzy_title"]
    assert strategies(2, 2) == strategies(0, 2)
    assert strategies(0, 2, is_last=True) == list(NAMES)  # the first has failed: all that is left
    assert strategies(0, 1) == list(NAMES)
    assert strategies(6, 9) == ["gtin"]


@given(st.data(), st.integers(1, 6), st.integers(1, 6), st.integers(0, 5))
def test_what_is_there_is_found_whatever_fails_on_the_way(
    data: st.DataObject, until_nothing: int, until_error: int, there: int
) -> None:
    """Attempts as the engine counts them, and a provider that has the thing by one strategy, and fails now and then."""
    nothing, answered = 0, set[str]()
    for attempt in range(1, max(until_nothing, until_error) + 1):
        failed = False
        for ask in asks(ROUNDS, nothing, until_nothing, is_last=attempt >= until_nothing):
            if data.draw(st.booleans(), "fails"):
                failed = True
                continue
            answered.add(ask.query.strategy)
            if ask.query.strategy == NAMES[there]:
                return  # found
        nothing += not failed
        if attempt >= (until_error if failed else until_nothing):
            assert failed, "said that it is not there"
            break
    assert NAMES[there] not in answered
    assert answered != set(NAMES)


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("The new Acme Anvil, for coyotes [2026]", "Acme Anvil coyotes"),
        ("(only an aside)", "(only aside)"),
        ("the", "the"),
        ("one two three four five six seven WH-1000XM5 64GB", "one two three four WH-1000XM5 64GB"),
        ("a a a b", "b"),
    ],
)
def test_telling_words(title: str, kept: str) -> None:
    assert key_words(title) == kept


def test_the_text_of_a_query_has_the_brand_once() -> None:
    strategy = BY_NAME["title_brand"]
    both = strategy.query({"title": "Stabilo Pen", "brand": "STABILO"})
    assert both is not None
    assert both.text == "Stabilo Pen"
    apart = strategy.query({"title": "Pen", "brand": "Stabilo"})
    assert apart is not None
    assert apart.text == "Stabilo Pen"
    number = BY_NAME["mpn_brand"].query({"mpn": "88/1", "brand": "Stabilo"})
    assert number is not None
    assert number.text == "Stabilo 88/1"
