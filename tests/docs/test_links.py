"""Links between the pages lead to files and headings that exist, and every page is linked from another."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs._blocks import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CHANGELOG.md", "ops/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def _links(page: Path) -> list[tuple[Path, str]]:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)#\s:]*)(?:#([^)\s]+))?\)", text)
    return [((page.parent / target).resolve() if target else page, anchor) for target, anchor in found]


def _anchors(page: Path) -> set[str]:
    """Those that GitHub and the site make of headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = [heading.lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in PAGES
        for target, anchor in _links(page)
        if not target.exists() or (anchor and anchor not in _anchors(target))
    ]
    assert broken == []


def test_every_page_is_linked_from_another() -> None:
    """Decisions are listed by their folder."""
    linked = {target for page in PAGES for target, _ in _links(page) if target != page}
    own = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and page.parent.name != "decisions"]
    unlinked = [str(page.relative_to(ROOT)) for page in own if page.resolve() not in linked]
    assert unlinked == []
