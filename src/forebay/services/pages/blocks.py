"""The blocks of a readable text: headings, paragraphs, items of lists, quotes, code, rows of tables and pictures.

Blocks contain plain text only, so that a reader can show them without trusting HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.services.pages.cleaning import address, line, lines
from forebay.services.pages.facts import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BLOCKS = 5000
LONGEST_BLOCK = 20_000
_MOST_CELLS = 100
_MOST_DEPTH = 8


def read_blocks(body: Any, base: str) -> list[Block]:
    """The blocks of a tree that trafilatura has extracted; pictures have absolute URLs."""
    found: list[Block] = []
    for block in _blocks(body, base, 0):
        if len(found) == MOST_BLOCKS:
            break
        found.append(block)
    return found


def _blocks(parent: Any, base: str, depth: int) -> Iterator[Block]:
    for node in parent:
        match node.tag:
            case "head":
                yield from _text("h", node, base, level=_level(node.get("rend")))
            case "p":
                yield from _text("p", node, base)
            case "quote":
                yield from _text("quote", node, base)
            case "code":
                yield from _code(node)
            case "list":
                yield from _items(node, base, min(depth + 1, _MOST_DEPTH))
            case "table":
                yield from _rows(node)
            case "graphic":
                yield from _picture(node, base)
            case _:
                yield from _blocks(node, base, depth)


def _level(rend: str | None) -> int:
    return int(rend[1]) if rend is not None and len(rend) == 2 and rend[1] in "123456" else 2


def _text(kind: Any, node: Any, base: str, *, level: int | None = None) -> Iterator[Block]:
    """The text of an element, then the pictures and lists in it."""
    own = "".join(_own_text(node))
    if text := line(own, LONGEST_BLOCK):
        yield Block(t=kind, text=text, level=level)
    for child in node.iterdescendants("graphic"):
        yield from _picture(child, base)


def _own_text(node: Any) -> Iterator[str]:
    """The text of an element without that of lists in it."""
    yield node.text or ""
    for child in node:
        if child.tag == "lb":
            yield " "
        elif child.tag != "list":
            yield from _own_text(child)
        yield child.tail or ""


def _code(node: Any) -> Iterator[Block]:
    if text := lines("".join(node.itertext()), LONGEST_BLOCK):
        yield Block(t="code", text=text)


def _items(node: Any, base: str, depth: int) -> Iterator[Block]:
    for item in node.iterchildren("item"):
        yield from _text("li", item, base, level=depth)
        for nested in item.iterchildren("list"):
            yield from _items(nested, base, min(depth + 1, _MOST_DEPTH))


def _rows(node: Any) -> Iterator[Block]:
    for row in node.iterchildren("row"):
        cells = [line("".join(cell.itertext()), 1000) or "" for cell in row.iterchildren("cell")][:_MOST_CELLS]
        if any(cells):
            yield Block(t="row", cells=cells)


def _picture(node: Any, base: str) -> Iterator[Block]:
    if (url := address(node.get("src"), base)) is not None:
        yield Block(t="img", url=url, text=line(node.get("alt") or node.get("title"), 500) or "")
