"""Providers: how they are declared, asked and understood, and what of it is refused."""

# demands: S5-132

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.errors import ConfigError, DataError, PermanentError, StepError, ThrottledError, TransientError
from forebay.services.products.provider_files import load_providers
from forebay.services.products.provider_spec import ProviderSpec
from forebay.services.products.providers import Fetch, HttpProvider, ProviderRequest
from forebay.services.products.strategies import Query, rounds

SHOP = """
name = "shop"
currency = "EUR"

[secrets]
key = "SHOP_KEY"

[headers]
X-Shop-Key = "{secret.key}"
Accept-Language = "de"

[queries]
gtin = "https://api.shop.example/products/{gtin}"
title_brand = "https://api.shop.example/search?q={text}"

[response]
items = "$.products[*]"
expects = "$.products"
id = "$.id"
price_divisor = 100

[response.fields]
title = ["$.title.de", "$.title"]
brand = "$.brand.name"
gtin = "$.codes[?@.type == 'ean'].value"
price = "$.offer.cents"
url = "$.link"
image = "$.images"

[limits]
rate_per_s = 5
max_candidates = 3
max_bytes = 4096

[errors]
code = "$.error.code"
throttled_codes = ["SLOW_DOWN", 99991400]
not_found_codes = ["NO_PRODUCT"]
config_codes = ["BAD_KEY"]
transient_codes = ["REINDEXING"]
retry_after = "X-Wait"
"""
PEN = {
    "id": 7, "title": {"de": " Stift\u200b blau "}, "brand": {"name": "Stabilo"}, "offer": {"cents": 120},
    "codes": [{"type": "upc", "value": "1"}, {"type": "ean", "value": 4006381333931}], "link": "/p/7",
    "images": ["https://img.example/7.jpg", "x"],
}  # fmt: skip
ENVIRON = {"SHOP_KEY": "hunter2"}
ANY_SHOP = HttpProvider(
    ProviderSpec.model_validate(
        {
            "name": "any",
            "queries": {"gtin": "https://a.example/{gtin}"},
            "response": {"items": "$.products[*]", "fields": {"title": "$..de", "price": "$..cents", "url": "$.link"}},
            "errors": {"code": "$.error.code"},
        }
    )
)


def _load(folder: Path, **files: str) -> list[Any]:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text)
    return list(load_providers(folder, ENVIRON))


@pytest.fixture
def shop(tmp_path: Path) -> HttpProvider:
    [provider] = _load(tmp_path, shop_toml=SHOP)
    assert isinstance(provider, HttpProvider)
    return provider


def _body(*products: Any) -> bytes:
    return json.dumps({"products": products}).encode()


def test_a_function_is_asked_otherwise() -> None:
    with pytest.raises(ValueError, match="response: is missing"):
        HttpProvider(ProviderSpec.model_validate({"name": "a", "function": "shop:find"}))


def test_a_request(shop: HttpProvider) -> None:
    [[by_gtin], [by_title]] = rounds({"gtin": "4006381333931", "title": "Stift & Co", "brand": "Stabilo"}, [shop])
    assert shop.request(by_gtin.query) == ProviderRequest(
        "https://api.shop.example/products/4006381333931",
        {"accept": "application/json", "x-shop-key": "hunter2", "accept-language": "de"},
        frozenset({"x-shop-key"}),
    )
    assert shop.request(by_title.query).url == "https://api.shop.example/search?q=Stabilo%20Stift%20%26%20Co"
    assert (shop.limits.rate_per_s, shop.limits.concurrency) == (5, 4)
    assert "hunter2" not in repr([shop, shop.request(by_gtin.query)])


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "provider shop: set the environment variable SHOP_KEY and restart"),
        ({"SHOP_KEY": "a\nb"}, "provider shop: SHOP_KEY has characters that cannot be sent"),
    ],
)
def test_a_secret_that_cannot_be_sent(tmp_path: Path, environ: dict[str, str], why: str) -> None:
    _load(tmp_path, shop_toml=SHOP)
    [provider] = load_providers(tmp_path, environ)
    assert isinstance(provider, HttpProvider)
    with pytest.raises(ConfigError, match=why) as told:
        provider.request(Query("gtin", {"gtin": "96385074"}))
    assert "a\nb" not in str(told.value)


def test_candidates_have_canonical_fields(shop: HttpProvider) -> None:
    [found] = shop.candidates(200, {}, _body(PEN))
    assert found.model_dump() == {
        "provider": "shop",
        "id": "7",
        "fields": {
            "title": "Stift blau", "brand": "Stabilo", "gtin": "4006381333931", "price": "1.20", "currency": "EUR",
            "url": "https://api.shop.example/p/7", "image": "https://img.example/7.jpg",
        },
    }  # fmt: skip
    assert shop.candidates(200, {}, _body()) == []
    assert shop.candidates(200, {}, b'{"products": [], "error": {"code": 0}}') == []
    assert shop.candidates(204, {}, b"") == []


@pytest.mark.parametrize(
    "product",
    [None, 5, "x", [], {}, {"title": None}, {"title": {"de": ["..."]}}, {"offer": {"cents": 5}}, {"title": True}],
)
def test_what_is_no_product_is_left_out(shop: HttpProvider, product: Any) -> None:
    found = shop.candidates(200, {}, _body(product, PEN))
    assert [each.id for each in found if each.id] == ["7"]


def test_values_that_cannot_be_read_are_left_out(shop: HttpProvider) -> None:
    odd = PEN | {
        "offer": {"cents": -5},
        "link": "javascript:alert(1)",
        "images": "http://[",
        "codes": [{"type": "ean", "value": "12"}],
    }
    [found] = shop.candidates(200, {}, _body(odd))
    assert sorted(found.fields) == ["brand", "title"]


def test_prices_as_texts_have_points() -> None:
    [found] = ANY_SHOP.candidates(200, {}, _body({"de": "Pen", "cents": "12.345"}))
    assert found.fields["price"] == "12.3450"


def test_answers_are_bounded(shop: HttpProvider) -> None:
    assert len(shop.candidates(200, {}, json.dumps({"products": [{"title": "x"}] * 100}).encode())) == 3
    with pytest.raises(PermanentError, match="shop answered more than 4096 bytes"):
        shop.candidates(200, {}, b" " * 5000)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"<html>busy</html>", TransientError),
        (b'{"products": [', TransientError),
        (b"\xff\xfe\x00", TransientError),
        (b"", TransientError),
        (b"9" * 5000, TransientError),
        (b"[" * 1_000_000 + b"]" * 1_000_000, PermanentError),
    ],
)
def test_an_answer_that_is_no_json(body: bytes, error: type[StepError]) -> None:
    with pytest.raises(error, match="any answered "):
        ANY_SHOP.candidates(200, {}, body)


def _code(code: Any) -> bytes:
    return json.dumps({"error": {"code": code}}).encode()


@pytest.mark.parametrize(
    ("status", "headers", "body", "error", "why"),
    [
        (429, {"X-Wait": "7"}, b"", ThrottledError, "7"),
        (429, {"x-wait": "1.5"}, b"", ThrottledError, "1.5"),
        (429, {}, b"<html>", ThrottledError, "30"),
        (429, {"x-wait": "soon"}, b"", ThrottledError, "30"),
        (429, {"x-wait": "999999"}, b"", ThrottledError, "3600"),
        (200, {"x-wait": "9"}, _code("SLOW_DOWN"), ThrottledError, "9"),
        (400, {}, _code(99991400), ThrottledError, "30"),
        (503, {"Retry-After": "4"}, b"", ThrottledError, "4"),
        (401, {}, b"", ConfigError, "shop answered 401. Check SHOP_KEY"),
        (200, {}, _code("BAD_KEY"), ConfigError, "with code BAD_KEY. Check SHOP_KEY"),
        (200, {}, _code("REINDEXING"), TransientError, "with code REINDEXING"),
        (500, {}, b"", TransientError, "shop answered 500"),
        (408, {}, b"", TransientError, "shop answered 408"),
        (400, {}, _code("OTHER"), PermanentError, "shop answered 400"),
        (200, {}, _code("NEW"), TransientError, "with code NEW, which its declaration does not list"),
        (200, {}, b"{}", TransientError, "shop answered 200 without $.products"),
        (302, {}, b"", PermanentError, "shop answered 302"),
    ],
)
def test_what_answers_mean(
    shop: HttpProvider, status: int, headers: dict[str, str], body: bytes, error: type[StepError], why: str
) -> None:
    with pytest.raises(error) as raised:
        shop.candidates(status, headers, body)
    if isinstance(raised.value, ThrottledError):
        assert f"{raised.value.retry_after:g}" == why
    else:
        assert why in str(raised.value)


@pytest.mark.parametrize(("status", "body"), [(404, b""), (410, b"<html>"), (200, _code("NO_PRODUCT"))])
def test_nothing_found_is_no_error(shop: HttpProvider, status: int, body: bytes) -> None:
    assert shop.candidates(status, {}, body) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*PEN, "products", "error", "code", "de", "name", "cents", "value", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@example("[", 200)
@given(JSON, st.sampled_from([200, 204, 301, 404, 418, 429, 500]))
def test_any_json_gives_candidates_or_an_error_of_ours(document: Any, status: int) -> None:
    try:
        found = ANY_SHOP.candidates(status, {}, json.dumps({"products": [document], "error": document}).encode())
    except StepError:
        assert status >= 300
        return
    assert status in {200, 204, 404}
    for each in found:
        assert type(each).model_validate_json(each.model_dump_json()) == each


# Finding, by fetching of the caller's.


@dataclass
class Answer:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes = b"{}"


async def test_finding_asks_and_reads(shop: HttpProvider) -> None:
    asked: list[ProviderRequest] = []

    async def fetch(request: ProviderRequest) -> Answer:
        asked.append(request)
        return Answer(content=_body(PEN))

    [found] = await shop.find(Query("gtin", {"gtin": "4006381333931"}), fetch)
    assert found.fields["title"] == "Stift blau"
    assert [request.url for request in asked] == ["https://api.shop.example/products/4006381333931"]


async def stock(query: Query, fetch: Fetch) -> list[dict[str, object]]:
    """A function as an installation may have one."""
    answer = await fetch(ProviderRequest(f"https://stock.example/{query.values['sku']}", {}))
    return [{"id": answer.status, "title": "Pen", "price": "5 €", "unknown": 1}] * 50


async def broken(query: Query, fetch: Fetch) -> list[dict[str, object]]:
    return query.text  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


async def of_texts(query: Query, fetch: Fetch) -> list[dict[str, object]]:
    return [query.text]  # type: ignore[list-item]  # pyright: ignore[reportReturnType]


async def _fetch(request: ProviderRequest) -> Answer:
    return Answer()


async def test_a_function_is_a_provider(tmp_path: Path) -> None:
    [provider] = _load(tmp_path, stock_toml=f'name = "stock"\nfunction = "{__name__}:stock"\nstrategies = ["sku"]')
    assert list(provider.strategies) == ["sku"]
    found = await provider.find(Query("sku", {"sku": "A"}), _fetch)
    assert len(found) == 20
    assert found[0].model_dump() == {
        "provider": "stock", "id": "200", "fields": {"title": "Pen", "price": "5.00", "currency": "EUR"},
    }  # fmt: skip


@pytest.mark.parametrize("name", ["broken", "of_texts"])
async def test_a_function_that_gives_something_else(tmp_path: Path, name: str) -> None:
    [provider] = _load(tmp_path, a_toml=f'name = "a"\nfunction = "{__name__}:{name}"')
    with pytest.raises(ConfigError, match="provider a: its function must return a list of mappings"):
        await provider.find(Query("sku", {"sku": "A"}), _fetch)


# Loading.


def _declared(**changes: Any) -> str:
    made: dict[str, Any] = {
        "name": "a",
        "queries": {"gtin": "https://a.example/{gtin}"},
        "response": {"items": "$[*]", "fields": {"title": "$.t"}},
    }
    return json.dumps({name: value for name, value in (made | changes).items() if value is not None})


def test_a_folder_is_read_in_the_order_of_priorities(tmp_path: Path) -> None:
    files = {
        "z_json": _declared(name="z", priority=1),
        "b_json": _declared(name="b"),
        "a_json": _declared(name="a"),
        "off_json": _declared(name="off", enabled=False),
        "readme_md": "not a provider",
    }
    assert [each.name for each in _load(tmp_path, **files)] == ["z", "a", "b"]
    assert load_providers(None) == []
    with pytest.raises(ConfigError, match="FOREBAY_SHEETS_PROVIDERS: there is no folder"):
        load_providers(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "a.json: is not valid JSON: "),
        ("[" * 100_000, "a.json: is nested too deeply"),
        ("[]", "a.json: Input should be"),
        (_declared(name="A b"), "a.json: name: String should match"),
        (_declared(colour="red"), "a.json: colour: Extra inputs are not permitted"),
        (_declared(queries=None), "a.json: queries and response are required, or else function"),
        (
            _declared(queries={"magic": "https://a.example/{gtin}"}),
            "a.json: 'magic' is not a strategy; the strategies are gtin, ",
        ),
        (
            _declared(queries={"gtin": "https://{gtin}.example/"}),
            "a.json: queries.gtin: has a placeholder before its path",
        ),
        (
            _declared(queries={"gtin": "https://a.example/{title}"}),
            "a.json: queries.gtin: has the placeholder {title}; allowed",
        ),
        (
            _declared(headers={"Cookie": "a=b"}),
            "a.json: headers.Cookie: seems to be a secret: name its variable under secrets",
        ),
        (_declared(secrets={"key": "not a name"}), "a.json: secrets.key: String should match"),
        (
            _declared(secrets={"key": "FOREBAY_DATABASE_URL"}),
            "a.json: secrets: FOREBAY_DATABASE_URL is a setting of forebay and not for providers",
        ),
        (_declared(response={"items": "x", "fields": {"title": "$.t"}}), "a.json: response.items: is not a JSONPath: "),
        (
            _declared(response={"items": 5, "fields": {"title": "$.t"}}),
            "a.json: response.items: must be a JSONPath such as $.name",
        ),
        (
            _declared(response={"items": "$", "fields": {"title": []}}),
            "a.json: response.fields.title: List should have",
        ),
        (_declared(response={"items": "$", "fields": {"hue": "$.t"}}), "a.json: response.fields.hue"),
        (_declared(response={"items": "$", "fields": {}}), "a.json: response.fields: Dictionary should have"),
        (_declared(limits={"concurrency": 0}), "a.json: limits.concurrency: Input should be greater"),
        (_declared(errors={"throttled": [200]}), "a.json: errors.throttled.0: Input should be greater"),
        (
            _declared(errors={"throttled_codes": ["X"]}),
            "a.json: errors: code: is missing; it must be the JSONPath of the listed codes",
        ),
        (_declared(currency="dollarydoos"), "a.json: currency: 'dollarydoos' is not a currency"),
        (_declared(function="os:system"), "a.json: function: excludes queries, response and headers: remove them"),
        ('{"name": "a", "function": "os:system"}', "a.json: function: os has no async function system"),
        ('{"name": "a", "function": "no_such_module:x"}', "a.json: function: no_such_module cannot be imported"),
        ('{"name": "a", "function": "x"}', "a.json: function: String should match"),
        ('{"name": "a"}' + " " * (1 << 20), "a.json: is larger than"),
    ],
)
def test_errors_name_file_and_field(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(why)) as told:
        _load(tmp_path, a_json=text)
    assert "a=b" not in str(told.value)


NO_JSONPATH = "JSONPath needs a package that is not installed: pip install 'forebay[sheets]'"


def test_without_the_package_the_step_parks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonpath", None)
    with pytest.raises(ConfigError, match=re.escape(NO_JSONPATH)):
        _load(tmp_path, a_json=_declared())


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        _load(tmp_path, a_json=_declared(), b_json=_declared(), c_toml="name = ")
    assert str(told.value).splitlines()[:2] == [
        "declarations of providers are invalid:",
        "b.json: name: a is the name of a.json, too",
    ]
    assert "c.toml: is not valid TOML: " in str(told.value)


def test_a_row_that_cannot_be_asked_about_is_at_fault_itself(shop: HttpProvider) -> None:
    with pytest.raises(DataError, match="cannot be queried"):
        shop.request(Query("gtin", {"gtin": ".."}))
