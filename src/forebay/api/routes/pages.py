"""The one page that is needed before there is a web app: it exchanges a one-time link for a session."""

from __future__ import annotations

import base64
import hashlib

from fastapi import APIRouter
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
