"""Addresses and headers: values are escaped, hosts are fixed, and secrets are not written down."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import DataError, PermanentError
from forebay.services.products.json_paths import JsonPath
from forebay.services.products.templates import HeaderTemplate, UrlTemplate
from forebay.services.products.texts import clean

FIELDS = ("title", "brand", "text")
SEARCH = UrlTemplate("https://shop.example/v1/{brand}/search?q={title}&key={secret.key}", FIELDS, ["key"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "https://{brand}.shop.example/?q={title}",
            "has a placeholder before its path: the host cannot come from a row",
        ),
        ("https://shop.example:{brand}/?q={title}", "before its path"),
        ("{title}://shop.example/", "must begin with http"),
        ("https://{title}", "before its path"),
        ("https://a.example@{title}/", "before its path"),
        ("https://shop.example", "is the same for every row: use a placeholder such as {title}"),
        ("https://shop.example/?q=x&key={secret.key}", "the same for every row"),
        (
            "https://shop.example/?q={gtin}",
            "has the placeholder {gtin}; allowed are {title}, {brand}, {text}, {secret.key}",
        ),
        ("https://shop.example/?q={secret.other}{title}", "has the placeholder {secret.other}"),
        (
            "https://shop.example/?q={title",
            "has a brace outside of a {placeholder}: write %7B or %7D for a brace",
        ),
        ("https://shop.example/?q={title!r}", "brace"),
        ("https://shop.example/?q={title.__class__}", "has the placeholder {title.__class__}"),
        ("https://shop.example/?q={{title}}", "brace"),
        ("https://shop.example/#{title}", "has a '#': fragments are not sent"),
        (
            "https://shop.example/{secret.key}/?q={title}",
            "has a secret in its path, which is logged: use the query or a header",
        ),
        (
            "https://shop.example/?q={title}&api_key=abc",
            "has a value for 'api_key', which seems to be a secret: name its variable under secrets",
        ),
        ("https://shop.example/../{title}", "a part of the path would be '.' or '..'"),
        ("https://user:pass@shop.example/{title}", "password"),
        ("https://shop example/{title}", "a space"),
        ("ftp://shop.example/{title}", "must begin with http"),
        ("/search?q={title}", "must begin with http"),
    ],
)
def test_an_address_that_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        UrlTemplate(text, FIELDS, ["key"])


def test_values_are_escaped() -> None:
    made = SEARCH.render({"brand": "A&B/C", "title": "50% off? #1 ü {brand}", "text": ""}, {"key": "s&t"})
    assert made == "https://shop.example/v1/A%26B%2FC/search?q=50%25%20off%3F%20%231%20%C3%BC%20%7Bbrand%7D&key=s%26t"


@pytest.mark.parametrize("brand", ["..", ".", "../../admin", "a/../b", "..\\x"])
def test_no_value_climbs_up(brand: str) -> None:
    with pytest.raises(DataError, match=r"cannot be queried: a part of the path would be '\.' or '\.\.'"):
        SEARCH.render({"brand": brand, "title": "x", "text": ""}, {"key": "k"})


def test_an_address_that_is_too_long_is_the_rows_fault() -> None:
    with pytest.raises(DataError, match="cannot be queried: the URL has"):
        SEARCH.render({"brand": "x", "title": "ü" * 5000, "text": ""}, {"key": "k"})


@given(st.text(max_size=60).map(clean), st.text(max_size=60).map(clean))
def test_no_value_changes_anything_but_its_place(brand: str, title: str) -> None:
    try:
        made = urlsplit(SEARCH.render({"brand": brand, "title": title, "text": ""}, {"key": "k"}))
    except DataError:
        assert "." in brand
        return
    assert (made.scheme, made.netloc, made.fragment) == ("https", "shop.example", "")
    head, one, name, last = made.path.split("/")
    assert (head, one, unquote(name), last) == ("", "v1", brand, "search")
    assert parse_qs(made.query, keep_blank_values=True) == {"q": [title], "key": ["k"]}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x y", "a", "is not a valid header name"),
        ("Host", "a", "is a header that the HTTP client sets"),
        ("Content-Length", "1", "the HTTP client sets"),
        ("Proxy-Authorization", "{secret.key}", "the HTTP client sets"),
        ("x-a", "a\r\nb: c", "cannot have"),
        ("x-a", "ü", "has characters that headers cannot have"),
        (
            "Authorization",
            "Bearer abc",
            "seems to be a secret: name its variable under secrets and write {secret.NAME} here",
        ),
        ("X-Api-Key", "abc", "seems to be a secret"),
        ("x-a", "{title}", "has the placeholder {title}; allowed are {secret.key}"),
    ],
)
def test_a_header_that_is_refused(name: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        HeaderTemplate(name, text, ["key"])


def test_a_header_without_secrets_has_no_places() -> None:
    with pytest.raises(ValueError, match=r"has the placeholder \{title\}; none are allowed"):
        HeaderTemplate("x-a", "{title}", [])


def test_headers_take_secrets() -> None:
    header = HeaderTemplate("Authorization", "Bearer {secret.key}", ["key"])
    assert (header.name, header.render({"key": "abc"}), header.is_secret) == ("authorization", "Bearer abc", True)
    assert not HeaderTemplate("Accept", "text/json", []).is_secret


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("items", "is not a JSONPath: "),
        ("$[", "is not a JSONPath: "),
        ("$[?" + "(" * 290, "is not a JSONPath: "),
        ("$." + "a" * 400, "at most 300"),
        ("$..a..b", "has more than one '..', which may take too long"),
        ("$..[?@..b]", "more than one '..'"),
        ("$.a[?@.b == $.c]", "has '$' within a filter, which may take too long: use '@'"),
        ("$['a','b']", "has a list of names or indexes: use a separate path for each"),
        ("$[?match(@.a, '(a+)+')]", "'match' is not defined"),
        ("$[?search(@.a, '(a+)+')]", "'search' is not defined"),
    ],
)
def test_a_path_that_is_refused(path: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        JsonPath(path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.name", "Pen"),
        ("$['a.b']", 1),
        ("$.ids[?@.type == 'ean'].value", "4006381333931"),
        ("$.images", "https://a.example/1.jpg"),
        ("$..amount", 5.5),
        ("$.nothing", None),
        ("$.empty", None),
        ("$.offers", None),
        ("$.offers[-1].amount", 7),
    ],
)
def test_paths(path: str, value: object) -> None:
    document = {
        "name": "Pen", "a.b": 1, "ids": [{"type": "x", "value": "1"}, {"type": "ean", "value": "4006381333931"}],
        "images": ["", None, "https://a.example/1.jpg"], "offers": [{"amount": 5.5}, {"amount": 7}], "empty": "",
    }  # fmt: skip
    assert JsonPath(path).scalar(document) == value


@pytest.mark.parametrize("text", ["[", '{"a": 1}', "[1, 2]"])
def test_a_text_is_not_taken_for_json(text: str) -> None:
    assert JsonPath("$.a").values(text) == JsonPath("$[0]").values(text) == JsonPath("$..a").values(text) == []
    assert JsonPath("$").scalar(text) == text
    assert JsonPath("$[*]").values([text]) == [text]
    assert JsonPath("$[*].a").values([text]) == []


def test_deep_and_wide_answers_end() -> None:
    deep: dict[str, object] = {}
    for _ in range(800):
        deep = {"a": deep}
    with pytest.raises(
        PermanentError, match=re.escape("the response cannot be searched for $..b: it is nested too deeply")
    ):
        JsonPath("$..b").values(deep)
    assert len(JsonPath("$[*]").values(list(range(100_000)), most=20)) == 20
