"""Finds the authors of a page: names of people or organizations, not handles or addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.services.pages import jsonld
from forebay.services.pages.cleaning import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from forebay.services.pages.head import Head
    from forebay.types import Json

_METAS = ("author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author",
          "article:author", "byl", "article:author_name", "article.author")  # fmt: skip
_MOST_NAMES = 5
_LONGEST_NAME = 80
_MOST_WORDS = 7
_MOST_BYLINES = 60
_BYLINES = (
    "[itemprop~='author' i] [itemprop='name' i]",
    "[rel~='author' i]",
    "[itemprop~='author' i], [itemprop~='creator' i]",
    "[class*='author-name' i], [class*='authorname' i], [class*='author_name' i], [class~='author' i], [id='author' i]",
    "[class*='byline' i], [data-testid*='byline' i], [data-component*='byline' i], [class*='posted-by' i]",
    "[class*='author' i], [class*='autor' i], [class*='auteur' i]",
)
_NOT_BYLINES = re.compile(
    r"comment|kommentar|related|sidebar|widget|footer|avatar|image|photo|icon|social|share|bio\b|teaser|recommend|popular"
    r"|reply|quote|nav\b|menu",
    re.IGNORECASE,
)
_BY = re.compile(
    r"^\W*(?:(?:written|posted|published|submitted|edited|reported|story|words|text|article|artikel|beitrag|geschrieben|eingestellt"
    r"|verfasst|veröffentlicht|publié|rédigé|escrito|scritto|skriven|autor(?:in|en)?|author|auteur|redaktion|words)\s*"
    r"(?:[:/]|\b))?\s*(?:(?:by|von|par|por|di|door|av|af|przez|od)\b)?\s*[:\u2013\u2014-]?\s+",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^\W*(?:(?:by|par)\s+|(?:by|von|par|por|di|door|av|text|words|author|autor|auteur|текст|автор)\s*:\s*)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:[|•·/(\[\n]|\s[-\u2013\u2014]\s|,?\s(?:on|am|le|vom|in)\s+\d|,\s*\d|\d{1,2}[./]\d|(?<!\d)(?:19|20)\d\d(?!\d)"
    r"|\b\d{1,2}\.?\s+\w{3,9}\s+\d{4}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)\w*\.?\s+\d"
    r"|\b(?:edited|updated|last updated|published|posted|veröffentlicht|aktualisiert|tiempo de lectura|lesezeit)\b).*",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESS = re.compile(r"^@|://|^/|@\w+\.|\b(?:facebook|twitter|instagram|plus\.google)\.com", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\s*[(<\[][^()<>\[\]]{0,200}(?:://|@)[^()<>\[\]]{0,200}[)>\]]")
_COMPANY = re.compile(r"\b(?:GmbH|mbH|AG|KG|e\.\s?V|Inc|Ltd|LLC|Corp|S\.A|B\.V)\b\.?\s*$")
_LETTERS = re.compile(r"[^\W_]+")
_NO_NAMES = {
    "publisher", "author", "authors", "admin", "administrator", "username", "user", "name", "posted", "posted by",
    "follow author", "follow", "by", "staff", "guest", "unknown", "anonymous", "editor", "webmaster", "view profile",
    "autor", "autorin", "autoren", "über den autor", "about the author", "share", "comments", "none", "null", "root",
    "more", "website", "contributor", "default", "wordpress", "author of post", "read more", "twitter", "facebook",
}  # fmt: skip


def read_author(tree: LexborHTMLParser, head: Head, things: list[dict[str, Json]], sites: set[str]) -> str | None:
    """The names of the authors, at most a few; `sites` are the names of the site, which are no authors."""
    about = jsonld.about(things)
    told = [
        jsonld.names_of(about, "author") or jsonld.names_of(about, "creator"),
        *([content] for name in _METAS for content in head.all(name)),
    ]
    found = [names for each in told if (names := _names(each))]
    people = next((names for names in found if not _are_site(names, sites)), None)
    if people is None:
        people = next(_bylines(tree, sites), None) or next(filter(_may_be_people, found), None)
    return line(", ".join(people[:_MOST_NAMES])) if people else None


def _are_site(names: list[str], sites: set[str]) -> bool:
    """Whether they are names of the site."""
    return all(_COMPANY.search(name) or "".join(_LETTERS.findall(name.casefold())) in sites for name in names)


def _may_be_people(names: list[str]) -> bool:
    """A personal site has the name of its author, which has more than one word."""
    return all(" " in name and not _COMPANY.search(name) for name in names)


def _names(texts: Iterable[str]) -> list[str]:
    """The texts that are names."""
    found = (_name(text) for text in texts)
    return list(dict.fromkeys(name for name in found if name))


def _name(text: str | None) -> str | None:
    """A name without a leading "by"."""
    name = (line(_PREFIX.sub("", _IN_BRACKETS.sub("", text or "")), 200) or "").strip(",;: ")
    is_name = name and name.casefold().strip(".") not in _NO_NAMES
    return name if is_name and not _ADDRESS.search(name) and not _is_domain(name) else None


def _is_domain(name: str) -> bool:
    from tld import get_fld  # noqa: PLC0415 # pyright: ignore[reportUnknownVariableType] - reads public suffixes

    return "." in name[1:-1] and " " not in name and bool(get_fld(f"https://{name}", fail_silently=True))


def _bylines(tree: LexborHTMLParser, sites: set[str]) -> Iterator[list[str]]:
    """Names in bylines of the page, the most explicit markup first."""
    for selector in _BYLINES:
        for node in tree.css(selector)[:_MOST_BYLINES]:
            name = _name_in(node)
            if name and not _are_site([name], sites):
                yield [name]


def _name_in(node: LexborNode) -> str | None:
    given = node.attributes
    marks = f"{given.get('class') or ''} {given.get('id') or ''}"
    if node.tag in ("body", "html", "article", "main") or _NOT_BYLINES.search(marks) or _is_aside(node):
        return None
    text = "\n".join(filter(None, (each.strip() for each in node.text(separator="\n")[:600].splitlines())))
    lines = [
        each for each in text.splitlines() if _BY.sub("", each + " ").strip(" :\u2013\u2014-|,") and not _is_noise(each)
    ]
    if not lines:
        return None
    name = _AFTER.sub("", _BY.sub("", lines[0] + " ").strip()).strip(" ,;:\u2013\u2014-|.")
    is_name = (
        1 < len(name) <= _LONGEST_NAME and len(name.split()) <= _MOST_WORDS and not re.search(r"\d{3}|[<>{}=]", name)
    )
    return _name(name) if is_name and (name[:1].isupper() or not name[:1].isalpha() or " " not in name) else None


def _is_noise(text: str) -> bool:
    return text.casefold().strip(" .:,;|\u2013\u2014-") in _NO_NAMES or not re.search(r"[^\W\d_]", text)


def _is_aside(node: LexborNode) -> bool:
    above = node.parent
    for _ in range(12):
        if above is None:
            return False
        given = above.attributes
        if above.tag in ("aside", "footer", "nav") or re.search(
            r"comment|kommentar|related|sidebar|teaser|recommend|popular",
            f"{given.get('class') or ''} {given.get('id') or ''}",
            re.IGNORECASE,
        ):
            return above.tag not in ("body", "html")
        above = above.parent
    return False
