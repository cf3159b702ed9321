"""Titles, authors and dates of pages that say them in many ways, or not to machines."""

from __future__ import annotations

import time

import pytest

from forebay.services.pages import PageFacts, PageKind, read_page

_BODY = "<article><p>" + "The river carried more water than in any spring before it. " * 12 + "</p></article>"


def read(head: str, body: str = "", url: str = "https://www.mill-post.example/news/weir") -> PageFacts:
    html = f"<html><head>{head}</head><body>{body}{_BODY}</body></html>"
    return read_page(html.encode(), url, "utf-8", 200)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>A weir was built - Mill Post</title>", "", "A weir was built"),
        ("<title>A weir was built | Mill-Post.example</title>", "", "A weir was built"),
        ("<title>Mill Post » A weir was built</title>", "", "A weir was built"),
        ("<title>Weirs - and why we need them</title>", "", "Weirs - and why we need them"),
        ("<title>Mill Post</title>", "<h1>A weir was built</h1>", "A weir was built"),
        ("<title>Home</title>", "<h1>A weir was built</h1>", "A weir was built"),
        ("<title>A weir was built | Rivers | News</title>", "<h1>A weir was built</h1>", "A weir was built"),
        (
            (
                '<meta property="og:site_name" content="Die Mühle">'
                '<meta property="og:title" content="Ein Wehr | Die Mühle">'
                "<title>Ein Wehr entsteht</title>"
            ),
            "",
            "Ein Wehr",
        ),
        (
            (
                '<script type="application/ld+json">{"@type":"NewsArticle","headline":"A weir &amp; a mill"}</script>'
                "<title>Weir and mill: all you need</title>"
            ),
            "",
            "A weir & a mill",
        ),
        (
            (
                '<script type="application/ld+json">{"@type":"Article","headline":"dam across a river"}</script>'
                "<title>Weir - Mill Post</title>"
            ),
            "",
            "Weir",
        ),
    ],
)
def test_the_title_is_without_the_sites_name(head: str, body: str, title: str) -> None:
    assert read(head, body).title == title


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ('<meta name="author" content="By Ada Miller">', "", "Ada Miller"),
        ('<meta name="twitter:creator" content="@adamiller">', "", None),
        ('<meta name="author" content="Von Trapp">', "", "Von Trapp"),
        ('<meta name="author" content="Text: Ada Miller">', "", "Ada Miller"),
        ('<meta name="author" content="@https://twitter.com/ada">', "", None),
        ('<meta name="author" content="publisher">', "", None),
        ('<meta name="author" content="https://www.facebook.com/millpost">', "", None),
        ('<meta name="author" content="mill-post.example">', '<a rel="author">Ada Miller</a>', "Ada Miller"),
        ('<meta name="author" content="Mill Post">', '<p class="byline">By Ada Miller | 3 May 2021</p>', "Ada Miller"),
        ('<meta name="author" content="Mill Post GmbH">', '<span class="author">Ada Miller</span>', "Ada Miller"),
        ("", '<div class="byline"><span>Von</span> <b>Ada Müller</b> <i>3. Mai 2021</i></div>', "Ada Müller"),
        ("", '<div class="comment"><span class="author">A Reader</span></div>', None),
        ("", '<p class="author">Username</p>', None),
        ('<meta name="author" content="Ada Miller (https://ada.example/)">', "", "Ada Miller"),
        ('<meta name="author" content="fri.juli">', "", "fri.juli"),
        (
            (
                '<script type="application/ld+json">'
                '{"@type":"Article","author":[{"name":"Ada Miller"},{"name":"@bob"}]}'
                "</script>"
            ),
            "",
            "Ada Miller",
        ),
    ],
)
def test_the_author_is_a_name(head: str, body: str, author: str | None) -> None:
    assert read(head, body).author == author


@pytest.mark.parametrize(
    ("head", "body", "url", "day"),
    [
        ("", '<p class="date">8 January 2020, 3:51 pm</p>', "", "2020-01-08"),
        ("", '<span class="meta__date">06.12.2022</span>', "", "2022-12-06"),
        ("", "", "https://mill-post.example/2021/05/03/weir", "2021-05-03"),
        ('<meta name="publication_date" content="2022-02-08T14:00:00">', "", "", "2022-02-08"),
        ("", "", "", None),
    ],
)
def test_days_in_words_and_addresses(head: str, body: str, url: str, day: str | None) -> None:
    published = read(head, body, url or "https://www.mill-post.example/news/weir").published
    assert (published.date().isoformat() if published else None) == day


@pytest.mark.parametrize(
    "title", ["Peugeot 404", "The Peugeot 404 turns sixty", "Route 404 through the hills", "Bus 404 to Leeds"]
)
def test_a_number_in_a_title_is_no_missing_page(title: str) -> None:
    facts = read_page(
        f"<title>{title}</title><h1>{title}</h1><p>A car of 1960.</p>".encode(), "https://a.example/", None, 200
    )
    assert facts.kind is PageKind.PAGE


@pytest.mark.parametrize(
    "title", ["404", "404 Not Found", "Error 404", "404 - Mill Post", "Mill Post | 404", "404: gone"]
)
def test_a_missing_page_is_one_by_its_title(title: str) -> None:
    facts = read_page(
        f"<title>{title}</title><p>Try the search, or go home.</p>".encode(), "https://a.example/", None, 200
    )
    assert facts.kind is PageKind.SOFT_404


@pytest.mark.parametrize(
    "html",
    [
        "<title>" + " -" * 200_000 + "</title>" + "<h1>" + "-" * 400_000 + "x</h1>",
        "<div class=author>" * 400 + "By " + "x " * 400_000,
        "<p class=date>" + "1.1.1 " * 200_000 + "</p>",
        "<span class=byline>" + "von " * 300_000 + "</span>",
    ],
)
def test_pages_that_are_made_to_take_long(html: str) -> None:
    began = time.process_time()
    read_page(html.encode(), "https://a.example/", "utf-8", 200)
    assert time.process_time() - began < 15
