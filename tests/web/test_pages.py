"""Every page in its states, narrow and wide, light and dark: it opens without complaint and axe finds nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web._browser import Watched
from tests.web._pages import Look, all_looks, route_of, routes
from tests.web.conftest import States

# Pictures are kept where this says, for `python scripts/web.py sheet`.
PICTURES = os.environ.get("FOREBAY_PICTURES")
SIZES = ((1440, 900), (360, 780))


def _by_state(looks: list[Look]) -> list[Look]:
    """The looks at one state follow each other: they share a site."""
    seeds = list(dict.fromkeys(look.seed for look in looks))
    return sorted(looks, key=lambda look: seeds.index(look.seed))


def test_every_route_is_looked_at() -> None:
    assert set(routes()) - {route_of(look.path) for look in all_looks()} == set()


@pytest.mark.parametrize(
    "look", _by_state([look for look in all_looks() if not look.is_rare]), ids=lambda look: look.name
)
def test_a_page_looks_right(states: States, look: Look) -> None:
    """Wide and light, narrow and dark: each size and each theme once. `make soak` has all four."""
    with states.person(look.seed, look.who) as person:
        for (width, height), dark in zip(SIZES, (False, True), strict=True):
            person.take(width=width, height=height, dark=dark)
            _open(states, person, look)
            person.axe()
            _check(person, width)


@pytest.mark.soak
@pytest.mark.parametrize("look", _by_state(all_looks()), ids=lambda look: look.name)
def test_a_page_looks_right_in_each_size_and_theme(states: States, look: Look) -> None:
    with states.person(look.seed, look.who) as person:
        for width, height in SIZES:
            for dark in (False, True):
                person.take(width=width, height=height, dark=dark)
                _open(states, person, look)
                person.axe()
                if PICTURES:
                    name = f"{look.name} {width} {'dark' if dark else 'light'}.png"
                    person.page.screenshot(path=Path(PICTURES) / name, animations="disabled")
                _check(person, width)


def _open(states: States, person: Watched, look: Look) -> None:
    site, values = states.site(look.seed)
    if look.refresh:
        look.refresh(site)
    person.allowed |= look.allowed
    page = person.open(look.path.format(**values))
    expect(page.get_by_role("heading", name=look.heading, level=1)).to_be_attached()
    page.wait_for_load_state("load")
    expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading'), [class*=skeleton]")).to_have_count(0)
    if look.after:
        look.after(person)


def _check(person: Watched, width: int) -> None:
    assert person.page.evaluate("document.documentElement.scrollWidth") <= width
    person.check()
