"""Candidates are scored against their row: the right one wins, and the score says why."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import ConfigError
from forebay.services.products import scoring
from forebay.services.products.columns import FIELDS, FieldName
from forebay.services.products.normalizing import Value
from forebay.services.products.scoring import Candidate, best, rank, score, similarity

ROW: dict[FieldName, Value] = {
    "title": "Sony WH-1000XM5 headphones black", "brand": "Sony", "gtin": "4548736132566", "mpn": "WH1000XM5B.CE7",
    "price": "379.00", "currency": "EUR",
}  # fmt: skip


def _candidate(**fields: Value) -> Candidate:
    return Candidate.model_validate({"provider": "shop", "fields": fields})


def _score(row: dict[FieldName, Value], **fields: Value) -> float:
    return score(row, _candidate(**fields)).value


def _without(*names: str) -> dict[FieldName, Value]:
    return {name: value for name, value in ROW.items() if name not in names}


def test_the_same_fields_score_one_and_say_why() -> None:
    found = score(ROW, Candidate(provider="shop", fields=ROW))
    assert found.value == 1.0
    assert found.explanation == "same GTIN; same part number; titles 100 % alike; same brand; same price"


def test_the_same_number_outweighs_words_but_not_all_of_them() -> None:
    assert _score(ROW, gtin="4548736132566", title="Kopfhörer Sony schwarz, kabellos") >= 0.92
    assert _score(ROW, gtin="04548736132566") >= 0.92
    assert _score(ROW, gtin="4548736132566", title="Garden hose 20 m") < 0.7


def test_another_number_brand_or_model_is_another_thing() -> None:
    title = ROW["title"]
    assert _score(ROW, title=title, brand="Sony", gtin="4006381333931") <= 0.5
    assert _score(_without("gtin"), title=title, brand="Bosch") > 0.6  # the title names the brand
    assert _score(_without("gtin"), title="WH-1000XM5 headphones black", brand="Bosch") <= 0.6
    assert _score(_without("gtin"), title=title, brand="Sony", mpn="WH1000XM4") <= 0.65
    assert _score(_without("gtin"), title=title, mpn="wh-1000xm5b/ce7") > 0.95


def test_an_article_number_counts_only_when_it_is_the_same() -> None:
    row: dict[FieldName, Value] = {**_without("gtin"), "sku": "A-1"}
    other = _score(row, title="Sony headphones", sku="Z-9")
    assert other == _score(row, title="Sony headphones")
    assert _score(row, title="Sony headphones", sku="a1") > other


def test_a_price_alone_is_no_match_and_other_currencies_are_not_compared() -> None:
    assert _score(ROW, price="379.00", currency="EUR") <= 0.4
    near, far = (
        _score(_without("gtin"), title="Sony headphones", price=each, currency="EUR") for each in ("389.00", "9.00")
    )
    plain = _score(_without("gtin"), title="Sony headphones")
    assert near > plain > far
    assert _score(_without("gtin"), title="Sony headphones", price="9.00", currency="USD") == plain
    assert _score(ROW) == 0.0
    assert score(ROW, _candidate()).explanation == "nothing to compare"
    assert "price 3 % higher" in score(ROW, _candidate(price="389.00", currency="EUR")).explanation


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("Samsung SSD 128 GB", "samsung ssd 128GB", 1.0, 1.0),
        ("Samsung SSD 128GB", "SSD 128GB Samsung 870 EVO SATA", 0.75, 0.99),
        ("Samsung SSD 128GB", "Samsung SSD 256GB", 0.0, 0.5),
        ("Kaffeemaschine", "Kaffemaschine", 0.85, 0.99),
        ("Café crème", "cafe creme", 1.0, 1.0),
        ("Apple", "Orange", 0.0, 0.0),
        ("索尼无线耳机", "索尼耳机", 0.4, 0.9),
        ("", "", 1.0, 1.0),
        ("???", "x", 0.0, 0.0),
    ],
)
def test_titles(one: str, other: str, least: float, most: float) -> None:
    assert least <= round(similarity(one, other), 6) <= most


@given(st.text(), st.text())
def test_titles_are_alike_in_both_directions(one: str, other: str) -> None:
    assert similarity(one, other) == pytest.approx(similarity(other, one))
    assert 0 <= similarity(one, other) <= 1.0 + 1e-9
    assert similarity(one, one) == pytest.approx(1.0)


def test_the_best_is_the_first_of_equals_and_good_enough() -> None:
    wrong = _candidate(title="Garden hose")
    right, twin = _candidate(title=ROW["title"], url="https://a.example/"), _candidate(title=ROW["title"])
    assert [each.candidate for each in rank(ROW, [wrong, right, twin])] == [right, twin, wrong]
    found = best(ROW, [wrong, right, twin], 0.7)
    assert found is not None
    assert found.candidate == right
    assert best(ROW, [wrong], 0.7) is None
    assert best(ROW, [], 0.0) is None


PRICES = st.decimals("0.01", "99999", places=2).map(str)
NUMBERS = st.sampled_from(["4006381333931", "4548736132566", "036000291452"])
ANY_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        name: PRICES if name == "price" else NUMBERS if name == "gtin" else st.text(min_size=1, max_size=30)
        for name in FIELDS
    },
)


@given(ANY_FIELDS, ANY_FIELDS)
def test_scores_are_within_bounds_and_the_same_each_time(
    row: dict[FieldName, Value], other: dict[FieldName, Value]
) -> None:
    candidate = Candidate(provider="shop", fields=other)
    found = score(row, candidate)
    assert 0 <= found.value <= 1
    assert score(row, candidate) == found
    assert type(found).model_validate_json(found.model_dump_json()) == found


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    scoring._likeness.cache_clear()
    reason = r"comparing titles needs a package that is not installed: pip install 'forebay\[sheets\]'"
    with pytest.raises(ConfigError, match=reason):
        _score(ROW, title="Sonny")
    monkeypatch.undo()
    scoring._likeness.cache_clear()
    assert _score(ROW, title="Sonny") > 0
