"""Every page in its states, narrow and wide, light and dark: it opens without complaint and axe finds nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import expect

from tests.web._browser import Watched
from tests.web._pages import Look, all_looks, route_of, routes
from tests.web.conftest import States

Device: TypeAlias = tuple[tuple[int, int], bool]
"""Width and height, and whether it is dark."""

# Pictures are kept where this says, for `python scripts/web.py sheet`.
PICTURES = os.environ.get("FOREBAY_PICTURES")
SIZES = ((1440, 900), (360, 780))
WIDE_AND_LIGHT, NARROW_AND_DARK = (SIZES[0], False), (SIZES[1], True)


def _by_state(looks: list[Look]) -> list[Look]:
    """The looks at one state follow each other: they share a site."""
    seeds = list(dict.fromkeys(look.seed for look in looks))
    return sorted(looks, key=lambda look: seeds.index(look.seed))


def test_every_route_is_looked_at() -> None:
    assert set(routes()) - {route_of(look.path) for look in all_looks()} == set()


def _with_devices() -> list[Any]:
    """Each look with the devices that it is looked at on. Every second one begins with the narrow one: on both, pages
    are opened as well as turned to."""
    looks = _by_state([look for look in all_looks() if not look.is_rare])
    orders = cycle(((WIDE_AND_LIGHT, NARROW_AND_DARK), (NARROW_AND_DARK, WIDE_AND_LIGHT)))
    return [pytest.param(look, devices, id=look.name) for look, devices in zip(looks, orders, strict=False)]


@pytest.mark.parametrize(("look", "devices"), _with_devices())
def test_a_page_looks_right(states: States, look: Look, devices: Sequence[Device]) -> None:
    """Each size and each theme once. A page is opened on one device and turned to the other; where something is done
    first, as opening a dialog, it is opened on both. `make soak` opens all on all."""
    with states.person(look.seed, look.who) as person:
        for place, ((width, height), dark) in enumerate(devices):
            person.take(width=width, height=height, dark=dark)
            if place == 0 or look.after:
                _open(states, person, look)
            else:
                person.forget_shift()
                _wait_until_loaded(person, look)
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
    person.open(look.path.format(**values))
    _wait_until_loaded(person, look)
    if look.after:
        look.after(person)


def _wait_until_loaded(person: Watched, look: Look) -> None:
    page = person.page
    expect(page.get_by_role("heading", name=look.heading, level=1)).to_be_attached()
    page.wait_for_load_state("load")
    expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading'), [class*=skeleton]")).to_have_count(0)


def _check(person: Watched, width: int) -> None:
    assert person.page.evaluate("document.documentElement.scrollWidth") <= width
    person.check()
