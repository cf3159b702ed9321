"""Reads the JSON-LD of a page, within limits."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from forebay.services.pages.cleaning import line
from forebay.types import Json

_MOST_SCRIPTS = 20
_LONGEST_SCRIPT = 1 << 18
_MOST_VALUES = 2000
_DEEPEST = 8
_LONGEST_LIST = 50
_LONGEST_TEXT = 2000
_WRAPPING = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|(?://|/\*)?\s*\]\]>\s*(?:\*/)?)\s*$"
)
_CONTENT = re.compile(
    r"Article|BlogPosting|NewsArticle|Report|Posting|Recipe|Product|Book|Movie|VideoObject|PodcastEpisode|Event"
    r"|SoftwareApplication|SoftwareSourceCode|Course|HowTo|QAPage|FAQPage|Review|Dataset|Episode|JobPosting"
)


class _Budget:
    def __init__(self) -> None:
        self.left = _MOST_VALUES

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


def read_json_ld(scripts: Iterable[str]) -> list[dict[str, Json]]:
    """The described things, those that the page is about first."""
    budget = _Budget()
    found: list[dict[str, Json]] = []
    for number, script in enumerate(scripts):
        if number >= _MOST_SCRIPTS:
            break
        for thing in _things(_parsed(script)):
            small = _bounded(thing, 0, budget)
            if isinstance(small, dict) and small:
                found.append(cast("dict[str, Json]", small))
    return sorted(found[:_LONGEST_LIST], key=_rank)


def _parsed(script: str) -> Json:
    if len(script) > _LONGEST_SCRIPT:
        return None
    text = _WRAPPING.sub("", script).strip().rstrip(";")
    for attempt in (text, re.sub(r",\s*([}\]])", r"\1", text)):
        try:
            return json.loads(attempt, strict=False, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
    return None


def _things(value: Json) -> Iterator[dict[str, Json]]:
    waiting: list[Json] = [value]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting[:0] = each[:_LONGEST_LIST]
        elif isinstance(each, dict):
            thing = cast("dict[str, Json]", each)
            graph = thing.get("@graph")
            if isinstance(graph, list):
                waiting[:0] = graph[:_LONGEST_LIST]
            else:
                yield thing


def _bounded(value: Json, depth: int, budget: _Budget) -> Json:
    if not budget.spend() or depth > _DEEPEST:
        return None
    if isinstance(value, str):
        return line(value, _LONGEST_TEXT)
    if isinstance(value, dict):
        pairs = list(cast("dict[str, Json]", value).items())[: 2 * _LONGEST_LIST]
        made = {line(key, 100) or "": _bounded(each, depth + 1, budget) for key, each in pairs}
        return {key: each for key, each in made.items() if key and each is not None}
    if isinstance(value, list):
        made_list = [_bounded(each, depth + 1, budget) for each in _listed(value)[:_LONGEST_LIST]]
        return [each for each in made_list if each is not None]
    is_number = isinstance(value, int | float)
    return value if not is_number or (math.isfinite(value) and abs(value) < 1 << 63) else None


def types_of(thing: dict[str, Json]) -> list[str]:
    """The types of a thing, without the URL of the vocabulary."""
    given = thing.get("@type")
    return [each.rpartition("/")[2] for each in _listed(given) if isinstance(each, str)]


def _rank(thing: dict[str, Json]) -> int:
    names = types_of(thing)
    if any(_CONTENT.search(name) for name in names):
        return 0
    return 1 if any(name.endswith("Page") for name in names) else 2


def about(things: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The things that describe the page itself, not its site, publisher or breadcrumbs."""
    return [thing for thing in things if _rank(thing) < 2]


def text_of(things: Iterable[dict[str, Json]], *keys: str) -> str | None:
    """The first text under one of the keys."""
    for thing in things:
        for key in keys:
            for found in _texts(thing.get(key), "name", "@value"):
                return found
    return None


def names_of(things: Iterable[dict[str, Json]], key: str) -> list[str]:
    """All names under a key of the first thing that has any."""
    for thing in things:
        if names := list(dict.fromkeys(_texts(thing.get(key), "name", "@value"))):
            return names
    return []


def addresses_of(things: Iterable[dict[str, Json]], key: str) -> Iterator[tuple[str, int | None, int | None]]:
    """URLs of images under a key, with width and height if they are given."""
    for thing in things:
        value = thing.get(key)
        for each in _listed(value):
            if isinstance(each, str):
                yield each, None, None
            elif isinstance(each, dict):
                picture = cast("dict[str, Any]", each)
                for found in _texts(picture.get("url") or picture.get("contentUrl"), "@id"):
                    yield found, pixels(picture.get("width")), pixels(picture.get("height"))


def pixels(value: Json) -> int | None:
    """A number of pixels in any notation."""
    if isinstance(value, dict):
        value = cast("dict[str, Json]", value).get("value")
    found = re.match(r"\s*(\d{1,5})", str(value)) if isinstance(value, str | int) else None
    return int(found[1]) or None if found else None


def _texts(value: Json, *keys: str) -> Iterator[str]:
    """Texts in a value that may be a text, a thing with a name, or a list of either."""
    for each in _listed(value):
        if isinstance(each, str) and each.strip():
            yield each
        elif isinstance(each, dict):
            for key in keys:
                inner = cast("dict[str, Json]", each).get(key)
                if isinstance(inner, str) and inner.strip():
                    yield inner
                    break


def _listed(value: Json) -> list[Json]:
    return list(cast("Iterable[Json]", value)) if isinstance(value, list) else [value]
