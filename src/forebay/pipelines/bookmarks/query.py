"""The query language of bookmarks: words, and operators that become filters.

weir "water mill" -wine or river    words, as in search engines
tag:news tag:"two words"            bookmarks with all of these tags
site:example.org kind:pdf           of a site, of a kind; several: one of them
category:Rivers                     of a category
is:archived                         archived, duplicate, pending, error
-tag:news -site:… -kind:… -is:…     the opposite
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from forebay.errors import InvalidField

if TYPE_CHECKING:
    from forebay.pipelines.bookmarks.db import BookmarkFilter

from forebay.pipelines.bookmarks.kinds import BookmarkKind

_TOKEN = re.compile(r'(?P<minus>-?)(?:(?P<name>[a-z]+):)?(?P<value>"[^"]*"?|[^\s"]\S*)?', re.IGNORECASE)
_OPERATORS = ("tag", "site", "kind", "category", "is")
_KINDS = get_args(BookmarkKind)
_STATES = ("archived", "duplicate", "pending", "error")
_OPEN, _FAILED = ("PENDING", "PROCESSING"), ("ERROR", "NOT_FOUND")
_OTHERS = {_OPEN: ("DONE", "SKIPPED", *_FAILED), _FAILED: ("DONE", "SKIPPED", *_OPEN)}


@dataclass(slots=True)
class BookmarkQuery:
    """A parsed query: its words, for the full-text search, and the filters of its operators."""

    words: str | None = None
    category: str | None = None
    archived: bool | None = None
    duplicates: bool | None = None
    lists: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def narrow(self, where: BookmarkFilter) -> BookmarkFilter:
        """The filter with those of the operators in addition."""
        given: dict[str, Any] = {name: (*getattr(where, name), *values) for name, values in self.lists.items()}
        if self.archived is not None:
            given["archived"] = self.archived
        if self.duplicates is not None:
            given["duplicates"] = self.duplicates
        return replace(where, **given)


def parse(text: str) -> BookmarkQuery:
    """Parse a query. Words before a colon that are no operators, as in URLs, are words.

    Raises: InvalidField that names the operator and what it takes.
    """
    query, words = BookmarkQuery(), list[str]()
    for token in _tokens(text):
        name, value = (token["name"] or "").lower(), (token["value"] or "").strip('"').strip()
        if name not in _OPERATORS:
            words.append(token[0])
            continue
        if not value:
            raise InvalidField("query.q", f"{name}: needs a value, as in {name}:{_example(name)}")
        _apply(query, name, value, is_not=bool(token["minus"]))
    query.words = " ".join(words) or None
    return query


def _tokens(text: str) -> list[re.Match[str]]:
    return [token for token in _TOKEN.finditer(text) if token[0]]


def _example(name: str) -> str:
    return {"tag": "news", "site": "example.org", "kind": "pdf", "category": "Rivers", "is": "archived"}[name]


def _apply(query: BookmarkQuery, name: str, value: str, *, is_not: bool) -> None:
    if name == "is":
        _apply_state(query, value.lower(), is_not=is_not)
    elif name == "category":
        if is_not:
            raise InvalidField("query.q", "category: cannot be negated")
        query.category = value
    else:
        if name == "kind" and value not in _KINDS:
            raise InvalidField("query.q", f"there is no kind {value[:40]!r}; the kinds are {', '.join(_KINDS)}")
        plain = value.lower().removeprefix("www.") if name == "site" else value
        query.lists.setdefault(f"not_{name}s" if is_not else f"{name}s", []).append(plain)


def _apply_state(query: BookmarkQuery, state: str, *, is_not: bool) -> None:
    if state not in _STATES:
        raise InvalidField("query.q", f"there is no is:{state[:40]}; there are {', '.join(_STATES)}")
    if state == "archived":
        query.archived = not is_not
    elif state == "duplicate":
        query.duplicates = not is_not
    else:
        statuses = _OPEN if state == "pending" else _FAILED
        query.lists.setdefault("statuses", []).extend(_OTHERS[statuses] if is_not else statuses)
