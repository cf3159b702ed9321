"""Every page of the corpus, fetched over a real socket and read."""

from __future__ import annotations

import http.client
import json
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from forebay.errors import ConfigError
from forebay.services.pages import PageFacts, read_page
from tests.corpus.site import Page, Site, corpus, serving

READ = [page for page in corpus().values() if page.expect is not None]
_LISTS = ("images", "icons", "feeds")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


def fetched(site: Site, page: Page) -> PageFacts:
    """A page as the pipeline reads it: status, headers and bytes as the server has sent them."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        connection.request("GET", page.path)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    charset = answer.headers.get_content_charset() if "charset" in (answer.getheader("Content-Type") or "") else None
    return read_page(body, f"https://site.example{page.path}", charset, answer.status, dict(answer.getheaders()))


@pytest.mark.parametrize("page", READ, ids=lambda page: page.path)
def test_what_is_read(site: Site, page: Page) -> None:
    facts = fetched(site, page)
    expected = dict(page.expect or {})
    for part in expected.pop("text_has", []):
        assert part in facts.text
    for part in expected.pop("text_lacks", []):
        assert part not in facts.text
    found = facts.as_json()
    shown = {name: [each["url"] for each in found[name]] if name in _LISTS else found[name] for name in expected}
    assert shown == {name: None if value is False and name != "is_cut" else value for name, value in expected.items()}


@pytest.mark.parametrize("page", READ, ids=lambda page: page.path)
def test_all_of_it_can_be_stored(site: Site, page: Page) -> None:
    stored = json.dumps(fetched(site, page).as_json(), ensure_ascii=False)
    assert "\\u0000" not in stored
    assert len(stored.encode()) < 2_000_000


def test_pictures_with_their_sizes(site: Site) -> None:
    first, second, _, last = fetched(site, corpus()["/article"]).images
    assert (first.width, first.height, first.alt) == (1200, 630, "An overshot wheel in winter")
    assert (second.width, second.height, second.alt) == (None, None, None)
    assert (last.width, last.height) == (1600, 900)


def test_the_corpus_is_large_enough() -> None:
    assert len(READ) >= 45
    assert len(corpus()) >= 80


def read(html: str | bytes, **other: Any) -> PageFacts:
    body = html.encode() if isinstance(html, str) else html
    given: dict[str, Any] = {"url": "https://site.example/a", "charset": "utf-8", "status": 200, "headers": {}} | other
    return read_page(body, **given)


def test_a_page_that_is_cut_in_the_middle_of_a_character() -> None:
    facts = read("<title>Straße</title><p>Grüße aus der schönen Stadt".encode()[:-1] + b"\xc3", charset="iso-8859-1")
    assert (facts.title, facts.charset) == ("Straße", "utf-8")


def test_linked_data_is_bounded() -> None:
    wide = json.dumps({"@type": "Article", **{f"key{n}": "x" * 5000 for n in range(3000)}})
    deep = '{"@type": "Article", "a": ' + '{"a": ' * 50_000 + "1" + "}" * 50_001
    many = '<script type="application/ld+json">{"@type": "Thing", "name": "x"}</script>' * 500
    facts = read(f'<title>x</title><script type="application/ld+json">{deep}</script>{many}')
    assert len(facts.json_ld) <= 50
    facts = read(f'<script type="application/ld+json">{wide[:200_000]}</script>')
    assert facts.json_ld == []  # cut, so that it is no JSON
    facts = read(
        f'<script type="application/ld+json">{json.dumps({"@type": "Article", "list": ["y" * 9000] * 99})}</script>'
    )
    assert len(json.dumps(facts.json_ld)) < 120_000


def test_numbers_and_surrogates_that_no_database_takes() -> None:
    told = '{"@type": "Article", "headline": "a\\ud800b\\u0000c", "n": 1e999, "m": NaN, "k": 12345678901234567890123}'
    (thing,) = read(f'<script type="application/ld+json">{told}</script>').json_ld
    assert thing["headline"] == "abc"
    assert "k" not in thing
    json.dumps(thing, allow_nan=False)


def test_texts_are_cut() -> None:
    facts = read(f"<title>{'long ' * 10_000}</title><p>{'word ' * 200_000}</p>")
    assert facts.title is not None
    assert (len(facts.title), facts.title[-1]) == (500, "…")
    assert len(facts.text) <= 200_000


def test_marks_that_turn_text_around_are_removed() -> None:
    assert read("<title>safe\u202egpj.exe</title><p>some words here to read").title == "safegpj.exe"


@pytest.mark.parametrize("status", [401, 403, 404, 410, 418, 429, 451, 500, 502, 503, 504])
def test_no_status_of_failure_is_ever_a_page(status: int) -> None:
    page = corpus()["/article"]
    facts = read(page.content, status=status)
    assert facts.kind in ("error", "login")
    assert str(status) in facts.reason


@pytest.mark.parametrize("seed", range(20))
def test_bytes_without_sense(seed: int) -> None:
    noise = b"".join(zlib.crc32(b"%d.%d" % (seed, n)).to_bytes(4, "little") for n in range(5000))
    facts = read(noise, charset=None)
    json.dumps(facts.as_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize("package", ["selectolax.lexbor", "trafilatura"])
def test_what_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError) as refused:
        read("<p>words</p>")
    assert str(refused.value) == "pages cannot be read: pip install 'forebay[web]'"


READER = """<html><head><title>Mill</title><base href="https://mill.test/docs/"></head>
<body><nav><a href=/>home</a></nav><article><h1>The mill</h1><h2>Water</h2>
<p>The miller opens the gate, and the water of the <b>forebay</b> falls onto the wheel. {more}</p>
<ul><li>one thing</li><li>two things<ul><li>nested</li></ul></li></ul>
<blockquote>A quote of the <i>miller</i>.</blockquote><pre><code>x = 1
y = 2</code></pre><p>before <img src="pic.png" alt="A wheel"> after</p><img src="javascript:alert(1)" alt="b">
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<p>Last words of the article, and they stay.</p></article></body></html>""".replace(
    "{more}", "More of the miller. " * 20
)


def test_the_readable_text_has_blocks() -> None:
    facts = read_page(READER.encode(), "https://mill.test/a", "utf-8", 200)
    shown = [block.model_dump(exclude_defaults=True) for block in facts.blocks]
    assert shown[:2] == [{"t": "h", "text": "The mill", "level": 1}, {"t": "h", "text": "Water", "level": 2}]
    assert [(block["t"], block.get("text", "")[:30]) for block in shown[2:]] == [
        ("p", "The miller opens the gate, and"),
        ("li", "one thing"),
        ("li", "two things"),
        ("li", "nested"),
        ("quote", "A quote of the miller."),
        ("code", "x = 1\ny = 2"),
        ("p", "before after"),
        ("img", "A wheel"),
        ("row", ""),
        ("row", ""),
        ("p", "Last words of the article, and"),
    ]
    assert [block.level for block in facts.blocks if block.t == "li"] == [1, 1, 2]
    assert [block.url for block in facts.blocks if block.t == "img"] == ["https://mill.test/docs/pic.png"]
    assert [block.cells for block in facts.blocks if block.t == "row"] == [["a", "b"], ["1", "2"]]


def test_blocks_change_nothing_about_the_text() -> None:
    """A page whose text changed with a release would be recorded as changed."""
    from trafilatura import extract

    figure = "<figure><img src=w.png><p>A wheel of oak, seen from the bridge.</p></figure>"
    for page in (READER, READER.replace("<blockquote>", f"{figure}<blockquote>")):
        text = extract(page, include_comments=False, include_tables=True)
        read = read_page(page.encode(), "https://mill.test/a", "utf-8", 200)
        assert read.text == text
    assert "bridge" not in read.text  # captions are shown, and are not searched
    assert "A wheel of oak, seen from the bridge." in [block.text for block in read.blocks]
