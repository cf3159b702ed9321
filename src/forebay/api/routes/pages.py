"""The two pages that are needed before there is a web app: signing in by a link, and what the API offers."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter(include_in_schema=False)

_SCRIPT = """
const said = document.getElementById("said");
const link = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
if (!link) { said.textContent = "Open the whole link that forebay has shown."; }
else fetch("/api/session/link", {
  method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({link}),
}).then(async answer => {
  const body = await answer.json();
  said.textContent = answer.ok ? `Signed in as ${body.name}. ` : `${body.detail}. `;
  const next = document.createElement("a");
  next.href = "/api/docs"; next.textContent = answer.ok ? "To the API" : "";
  said.append(next);
}, error => { said.textContent = `No answer: ${error}`; });
"""
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>forebay</title>
<style>body {{ font: 1.1rem system-ui; max-width: 40rem; margin: 20vh auto; padding: 0 1rem }}</style>
<h1>forebay</h1><p id="said" role="status">Signing in …</p><script>{_SCRIPT}</script></html>"""
_POLICY = f"default-src 'none'; script-src 'sha256-{_HASH}'; style-src 'unsafe-inline'; connect-src 'self'"


@router.get("/sign-in")
async def sign_in() -> HTMLResponse:
    """The part of the link after # never reaches the server's logs: the page sends it."""
    return HTMLResponse(_PAGE, headers={"content-security-policy": _POLICY})


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
