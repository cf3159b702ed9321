"""Every route of the web app and the states to look at. The rows of a folder of pages are in a module of its own,
`_looks_NAME.py`, with a list `LOOKS`.

`test_pages.py` opens each at 360 and 1440 px, light and dark, checks it with axe, and keeps a picture;
`python scripts/web.py sheet` puts the pictures on one page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web._browser import Watched
    from tests.web.conftest import Site


@dataclass(frozen=True)
class Look:
    """A page in a state. `seed` makes the state; it returns values for the braces in the path."""

    path: str
    state: str
    heading: str
    seed: Callable[[Site], dict[str, str]] | None = None
    who: str = "ann"
    allowed: frozenset[int] = frozenset()
    """Statuses that the state provokes, as 404 for what is gone."""
    after: Callable[[Watched], None] | None = None
    """What a person does before the picture, as opening a dialog."""

    @property
    def name(self) -> str:
        return f"{self.path.strip('/').replace('/', '-') or 'home'} {self.state}"


def job_with_a_failure(site: Site) -> dict[str, str]:
    """A job whose items have ended: one done, one failed, one not found."""
    items = [{"title": "good", "size": 1}, {"title": "broken"}, {"title": "missing"}]
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": items})
    site.run(site.service.work())
    return {"job": str(made.json()["jobId"])}


def waiting_job(site: Site) -> dict[str, str]:
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": str(n)} for n in range(40)]})
    return {"job": str(made.json()["jobId"])}


def saved_links(site: Site) -> dict[str, str]:
    for place in ("https://example.org/rivers", "https://example.com/mills"):
        answer = site.api().post("/api/bookmarks", json={"url": place})
        assert answer.status_code in {200, 201}, answer.text
    return {}


def lively(site: Site) -> dict[str, str]:
    """Something of everything, as after a morning."""
    return job_with_a_failure(site) | waiting_job(site) | saved_links(site)


def open_palette(page: Watched) -> None:
    page.page.keyboard.press("Control+k")
    page.page.get_by_role("dialog", name="Commands").wait_for()


def open_keys(page: Watched) -> None:
    page.page.keyboard.press("Escape")  # out of the box, in which it would be a character
    page.page.keyboard.press("?")
    page.page.get_by_role("dialog", name="Keys").wait_for()


_SHELL = [
    Look("/", "empty", "Home"),
    Look("/", "lively", "Home", lively),
    Look("/", "palette", "Home", after=open_palette),
    Look("/", "keys", "Home", after=open_keys),
    Look("/no/such/page", "gone", "Not here"),
]


def all_looks() -> list[Look]:
    others = sorted(path.stem for path in Path(__file__).parent.glob("_looks_*.py"))
    return _SHELL + [look for name in others for look in import_module(f"tests.web.{name}").LOOKS]
