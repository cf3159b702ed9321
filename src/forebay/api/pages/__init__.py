"""HTML pages with inline style and script, and a policy under which no other script runs.

A page is a file `NAME.html` (the content of `<main>`) with an optional `NAME.js` and `NAME.css`. Every page has
`shared.js` and `shared.css` as well.

A package's section of the home page (`PipelinePackage.home_section`) has the same files, without CSS. Its ids begin
with the name of the package. Its script runs in a separate scope before the page starts, and registers the section:

    sections.push({
      begin: async () => {},       // after signing in
      show: async () => isOpen,    // refresh; returns whether some of its work is unfinished
    });

It may call `say(text)`, which shows a message, and `show()`, which refreshes all sections.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi.responses import HTMLResponse

from forebay.identity.accounts import NAME_RULE, PASSWORD_LENGTHS, PASSWORD_RULE
from forebay.packages import leave_out, packages

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


def home_page() -> HTMLResponse:
    """The home page, with the sections of all packages."""
    markup, scripts = [""], [""]
    for package in packages():
        if package.home_section is None:
            continue
        folder = files(package.module)
        try:
            markup.append((folder / f"{package.home_section}.html").read_text("utf-8"))
        except Exception as error:  # any error of the package
            leave_out(package, error)
            continue
        scripts.append(f"{{\n{_text(folder, f'{package.home_section}.js')}}}\n")
    main = _text(_OWN, "home.html").replace("{sections}", "\n".join(markup))
    return _page("Home", main, _text(_OWN, "home.js").replace("/* sections */", "\n".join(scripts)), "")


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
