"""Markdown to HTML that is safe to show. To be run in a limited process: some texts take long."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from forebay.errors import ConfigError

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MISSING = 'articles need packages that are not installed: pip install "forebay[articles]"'

_SCHEMES = {"http", "https", "mailto"}
_TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "ul", "ol", "li", "pre", "code"),
    *("em", "strong", "s", "a", "img", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "img": {"src", "alt", "title"}, "ol": {"start"}, "code": {"class"}}
_NESTING = 20


def render(content: str) -> str:
    """The HTML of a Markdown text. HTML in the text is shown as text, and what the renderer made is cleaned once more.

    Raises: ConfigError when packages are missing.
    """
    try:
        import nh3  # noqa: PLC0415 - an extra

        markdown = _markdown()
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return nh3.clean(
        markdown.render(content),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - an extra

    options = {"html": False, "linkify": False, "maxNesting": _NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
