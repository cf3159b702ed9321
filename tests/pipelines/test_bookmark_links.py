"""Links to the same page are found to be so, and links to others are not."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.pipelines.bookmarks.links import looks_like_image, page_hash, page_key

SAME = [
    ("https://example.org", "https://example.org/"),
    ("http://example.org/a", "https://example.org/a"),
    ("https://EXAMPLE.org:443/a", "https://example.org/a"),
    ("http://example.org:80/a", "http://example.org./a"),
    ("https://example.org/a#part", "https://example.org/a"),
    ("https://example.org/a?utm_source=x&UTM_Medium=y&b=1", "https://example.org/a?b=1&fbclid=z"),
    ("https://example.org/a?b=2&a=1", "https://example.org/a?a=1&b=2"),
    ("https://example.org/%7Eann/%c3%bc", "https://example.org/~ann/%C3%BC"),
    ("https://example.org/ü", "https://example.org/%C3%BC"),
    ("https://example.org/a/../b/./c", "https://example.org/b/c"),
    ("https://example.org//a///b", "https://example.org/a/b"),
    ("  https://example.org/a ", "https://example.org/a"),
]
OTHERS = [
    ("https://example.org/a", "https://example.org/b"),
    ("https://example.org/a", "https://example.org/a/"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org/a", "https://example.org:8443/a"),
    ("https://example.org/a", "https://www.example.org/a"),
    ("https://example.org/a?b=1", "https://example.org/a?b=2"),
    ("https://example.org/a%2Fb", "https://example.org/a%3Fb"),
    ("https://example.org/#/a", "https://example.org/#/b"),
    ("https://example.org/#!a", "https://example.org/"),
    ("https://example.org/?q=", "https://example.org/?r="),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_page(one: str, other: str) -> None:
    assert page_key(one) == page_key(other)
    assert page_hash(one) == page_hash(other)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_page(one: str, other: str) -> None:
    assert page_hash(one) != page_hash(other)


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60),
    st.dictionaries(st.text(max_size=8), st.text()),
)
def test_a_key_is_the_key_of_itself(path: str, query: dict[str, str]) -> None:
    key = page_key(f"https://example.org/{quote(path, safe='')}?{urlencode(query)}")
    assert page_key(f"https://{key}") == key


@pytest.mark.parametrize(
    ("url", "is_image"),
    [
        ("https://example.org/a.PNG", True),
        ("https://example.org/a.jpeg?size=2", True),
        ("https://example.org/a.png.html", False),
        ("https://example.org/png", False),
        ("https://example.org/page?file=a.png", False),
    ],
)
def test_pictures_are_told_by_their_name(url: str, is_image: bool) -> None:
    assert looks_like_image(url) is is_image
