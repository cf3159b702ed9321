"""The pages until the web app comes: home, signing in, saving a link, and the API with forms to try it."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from forebay.api.strict_query import StrictRoute
from forebay.identity.accounts import NAME_RULE, PASSWORD_LENGTHS, PASSWORD_RULE

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

_FILES = files("forebay.api") / "pages"
_WORDS = {
    "{name_rule}": f"{NAME_RULE[0].upper()}{NAME_RULE[1:]}.",
    "{password_rule}": f"{PASSWORD_RULE[0].upper()}{PASSWORD_RULE[1:]}.",
    "{longest}": str(PASSWORD_LENGTHS.stop - 1),
}


def _text(name: str) -> str:
    found = _FILES / name
    return found.read_text("utf-8") if found.is_file() else ""


def _page(name: str, title: str) -> HTMLResponse:
    """A page with its script in it, and a policy under which no other script runs."""
    script = _text("shared.js") + _text(f"{name}.js")
    page = _text("frame.html")
    parts = {
        "{title}": title,
        "{style}": _text("shared.css") + _text(f"{name}.css"),
        "{main}": _text(f"{name}.html"),
        **_WORDS,
        "{script}": script,  # the last: what is in it stays as it is
    }
    for mark, text in parts.items():
        page = page.replace(mark, text)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(page, headers={"content-security-policy": policy})


_HOME = _page("home", "Home")
_SIGN_IN = _page("sign_in", "Sign in")
_ADD = _page("add", "Save a link")
_DOCS = _page("docs", "API")


@router.get("/")
async def home() -> HTMLResponse:
    """What is saved, what is being worked on, and where everything is."""
    return _HOME


@router.get("/sign-in")
async def sign_in() -> HTMLResponse:
    """The part of the link after # never reaches the server's logs: the page sends it."""
    return _SIGN_IN


@router.get("/bookmarks/add")
async def add_bookmark() -> HTMLResponse:
    """Where the bookmarklet leads to, and where it can be had."""
    return _ADD


@router.get("/api/docs")
async def docs() -> HTMLResponse:
    """Every route, what it does and what it takes, with a form to try it; nothing is fetched from elsewhere."""
    return _DOCS
