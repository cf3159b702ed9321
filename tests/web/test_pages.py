"""Every page in its states, narrow and wide, light and dark: it opens without complaint and axe finds nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web._pages import Look, all_looks
from tests.web.conftest import Site

# Pictures are kept where this says, for `python scripts/web.py sheet`.
PICTURES = os.environ.get("FOREBAY_PICTURES")
SIZES = ((1440, 900, False), (360, 780, True))  # light on the one, dark on the other: each is seen


@pytest.mark.parametrize("look", all_looks(), ids=lambda look: look.name)
def test_a_page_looks_right(site: Site, look: Look) -> None:
    values = look.seed(site) if look.seed else {}
    schemes = (False, True) if PICTURES else (None,)
    for width, height, dark in SIZES:
        for scheme in schemes:
            _look(site, look, values, width, height, dark=dark if scheme is None else scheme)


def _look(site: Site, look: Look, values: dict[str, str], width: int, height: int, *, dark: bool) -> None:
    person = site.person(look.who, width=width, height=height, dark=dark, touch=width < 900)
    person.allowed = set(look.allowed)
    page = person.open(look.path.format(**values))
    expect(page.get_by_role("heading", name=look.heading, level=1)).to_be_attached()
    page.wait_for_load_state("load")
    expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
    if look.after:
        look.after(person)
    person.axe()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if PICTURES:
        name = f"{look.name} {width} {'dark' if dark else 'light'}.png"
        page.screenshot(path=Path(PICTURES) / name, animations="disabled")
    person.check()
