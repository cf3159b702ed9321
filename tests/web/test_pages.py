"""Every page in its states, narrow and wide, light and dark: it opens without complaint and axe finds nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web._browser import Watched
from tests.web._pages import Look, all_looks
from tests.web.conftest import States

# Pictures are kept where this says, for `python scripts/web.py sheet`.
PICTURES = os.environ.get("FOREBAY_PICTURES")
SIZES = ((1440, 900, False), (360, 780, True))  # light on the one, dark on the other: each is seen


def _by_state() -> list[Look]:
    """The looks at one state follow each other: they share a site."""
    looks = all_looks()
    seeds = list(dict.fromkeys(look.seed for look in looks))
    return sorted(looks, key=lambda look: seeds.index(look.seed))


@pytest.mark.parametrize("look", _by_state(), ids=lambda look: look.name)
def test_a_page_looks_right(states: States, look: Look) -> None:
    _, values = states.site(look.seed)
    for width, height, usually_dark in SIZES:
        for dark in (False, True) if PICTURES else (usually_dark,):
            with states.person(look.seed, look.who, width=width, height=height, dark=dark) as person:
                _look(person, look, values, f"{look.name} {width} {'dark' if dark else 'light'}.png", width)


def _look(person: Watched, look: Look, values: dict[str, str], picture: str, width: int) -> None:
    person.allowed |= look.allowed
    page = person.open(look.path.format(**values))
    expect(page.get_by_role("heading", name=look.heading, level=1)).to_be_attached()
    page.wait_for_load_state("load")
    expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
    if look.after:
        look.after(person)
    person.axe()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / picture, animations="disabled")
    person.check()
