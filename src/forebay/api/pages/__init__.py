"""HTML pages with inline style and script, and a policy under which no other script runs.

A page is a file `NAME.html` (the content of `<main>`) with an optional `NAME.js` and `NAME.css`. Every page has
`shared.js` and `shared.css` as well.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi.responses import HTMLResponse

from forebay.identity.accounts import NAME_RULE, PASSWORD_LENGTHS, PASSWORD_RULE
from forebay.packages import packages

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_OWN = files("forebay.api") / "pages"
_WORDS = {
    "{name_rule}": f"{NAME_RULE[0].upper()}{NAME_RULE[1:]}.",
    "{password_rule}": f"{PASSWORD_RULE[0].upper()}{PASSWORD_RULE[1:]}.",
    "{longest}": str(PASSWORD_LENGTHS.stop - 1),
}


def page(name: str, title: str, folder: Traversable = _OWN) -> HTMLResponse:
    """The page made of these files."""
    return _page(title, _text(folder, f"{name}.html"), _text(folder, f"{name}.js"), _text(folder, f"{name}.css"))


def _page(title: str, main: str, script: str, style: str) -> HTMLResponse:
    links = "".join(
        f'<a href="{escape(path)}">{escape(text)}</a> · '
        for package in packages()
        for path, text in package.page_links.items()
    )
    script = _text(_OWN, "shared.js") + script
    text = _text(_OWN, "frame.html")
    parts = {
        "{title}": title,
        "{style}": _text(_OWN, "shared.css") + style,
        "{links}": links,
        "{main}": main,
        **_WORDS,
        "{script}": script,  # last: braces in it stay as they are
    }
    for mark, part in parts.items():
        text = text.replace(mark, part)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(text, headers={"content-security-policy": policy})


def _text(folder: Traversable, name: str) -> str:
    found = folder / name
    return found.read_text("utf-8") if found.is_file() else ""
