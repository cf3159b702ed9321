"""The pages that are needed before there is a web app: signing in, saving a page, and what the API offers."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from forebay.api.accounts import NAME_RULE, PASSWORD_LENGTHS, PASSWORD_RULE
from forebay.api.strict import StrictRoute

router = APIRouter(include_in_schema=False, route_class=StrictRoute)

_FILES = files("forebay.api") / "pages"
_WORDS = {
    "{name_rule}": f"{NAME_RULE[0].upper()}{NAME_RULE[1:]}.",
    "{password_rule}": f"{PASSWORD_RULE[0].upper()}{PASSWORD_RULE[1:]}.",
    "{longest}": str(PASSWORD_LENGTHS.stop - 1),
}


def _page(name: str) -> HTMLResponse:
    """A page with its script in it, and a policy under which no other script runs."""
    script = (_FILES / f"{name}.js").read_text("utf-8")
    page = (_FILES / f"{name}.html").read_text("utf-8")
    for mark, text in {**_WORDS, "{script}": script}.items():
        page = page.replace(mark, text)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(page, headers={"content-security-policy": policy})


_SIGN_IN = _page("sign_in")
_ADD = _page("add")


@router.get("/sign-in")
async def sign_in() -> HTMLResponse:
    """The part of the link after # never reaches the server's logs: the page sends it."""
    return _SIGN_IN


@router.get("/bookmarks/add")
async def add_bookmark() -> HTMLResponse:
    """Where the bookmarklet leads to, and where it can be had."""
    return _ADD


_STYLE = """<style>body { font: 1rem/1.5 system-ui; max-width: 60rem; margin: 3rem auto; padding: 0 1rem }
code { font-size: .95em } td { padding: .2rem 1rem .2rem 0; vertical-align: top } small { color: #666 }</style>"""


@router.get("/api/docs")
async def docs(request: Request) -> HTMLResponse:
    """Every route, what it does and what it takes; nothing is fetched from elsewhere."""
    document: dict[str, Any] = request.app.openapi()
    rows = "".join(
        _row(method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    )
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>forebay: the API</title>{_STYLE}
<h1>The API</h1><p>{escape(document["info"]["description"])}</p>
<p>Programs send <code>Authorization: Bearer &lt;token&gt;</code>: <code>forebay tokens add</code> makes one. In full,
for tools: <a href="/api/openapi.json">openapi.json</a>.</p><table>{rows}</table></html>"""
    return HTMLResponse(page, headers={"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"})


def _row(method: str, path: str, operation: dict[str, Any]) -> str:
    takes = ", ".join(parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query")
    about = escape(operation.get("description") or operation["summary"])
    small = f"<br><small>{escape(takes)}</small>" if takes else ""
    return f"<tr><td><code>{method.upper()}</code></td><td><code>{escape(path)}</code></td><td>{about}{small}</td></tr>"
