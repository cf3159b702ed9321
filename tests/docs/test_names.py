"""Settings, commands and routes that the pages name are those of the generated reference."""

from __future__ import annotations

import re

from tests.docs._blocks import ROOT, blocks

# These are about packages that are not installed here; test_pipelines.py and test_howtos.py run them.
_PACKAGES = {"pipelines.md", "webhooks.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "ops" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(page for page in (ROOT / "docs" / "howto").glob("*.md") if page.name not in _PACKAGES),
]
REFERENCE = ROOT / "docs" / "reference"


def _text(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")


def test_settings() -> None:
    """`FOREBAY_SHEETS_…` and the like stand for all that begin so."""
    known = set(re.findall(r"`(FOREBAY_\w+)`", _text("settings.md")))
    wrong = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in re.findall(r"FOREBAY_[A-Z0-9_]+", page.read_text("utf-8"))
        if name not in known and not (name.endswith("_") and any(each.startswith(name) for each in known))
    ]
    assert wrong == []


def test_commands() -> None:
    """In the text as code, and in the blocks for the shell."""
    known = set(re.findall(r"^## forebay (.+)$", _text("cli.md"), re.MULTILINE))
    groups = {name.partition(" ")[0] for name in known if " " in name}
    wrong: list[str] = []
    for page in PAGES:
        shell = "\n".join(blocks(str(page.relative_to(ROOT)), "sh"))
        named = re.findall(r"`forebay ([a-z]+)(?: ([a-z]+))?", page.read_text("utf-8"))
        for first, second in named + re.findall(r"(?:^|\()forebay ([a-z]+)(?: ([a-z]+))?", shell, re.MULTILINE):
            command = f"{first} {second}" if first in groups and second else first
            if command not in known:
                wrong.append(f"{page.name}: forebay {command}")
    assert wrong == []


def test_routes() -> None:
    """The path as the page has it, with any name or number where the route has a parameter."""
    routes = re.findall(r"^\| ([A-Z]+) \| `([^`]+)`", _text("http.md"), re.MULTILINE)
    known = [(method, re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))) for method, path in routes]
    wrong = [
        f"{page.name}: {method} {path}"
        for page in PAGES
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^\s`?]+)", page.read_text("utf-8"))
        if not any(method == each and pattern.fullmatch(path) for each, pattern in known)
    ]
    assert wrong == []


def test_functions_and_classes() -> None:
    """What a page calls in its text, as `http.get(…)`, is in our code, except in pages about others and the web app."""
    own = [page for page in PAGES if page.name not in {"coming-from.md", "django.md", "web.md"}]
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".sql"}]
    defined = {
        name
        for text in sources
        for name in re.findall(r"(?:\bdef|\bclass|\bfunction(?: forebay\.)?(?: pgmq_public\.)?) ?(\w+)", text)
    }
    wrong = [
        f"{page.name}: {called}"
        for page in own
        for called in re.findall(r"`(?:raise |return |await |select )*((?:\w+\.)*\w+)\(", page.read_text("utf-8"))
        if called.rpartition(".")[2] not in defined | {"set_config"}
    ]
    assert wrong == []
