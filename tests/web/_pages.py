"""Every route of the web app and the states to look at. The rows of a folder of pages are in a module of its own,
`_looks_NAME.py`, with a list `LOOKS`.

`test_pages.py` opens each at 360 and 1440 px, light and dark, and checks it with axe; `python scripts/web.py sheet`
also keeps pictures, and puts them on one page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web._browser import Watched
    from tests.web.conftest import Site

_PAGES = Path(__file__).parents[2] / "web" / "src" / "pages"


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
    refresh: Callable[[Site], None] | None = None
    """Makes the state young again before each look: a worker that nobody has seen for a minute has vanished."""
    is_rare: bool = False
    """Looked at for the contact sheet and by `make soak` only: others have the same parts."""

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


def many(site: Site) -> dict[str, str]:
    """More than fits, with long names and numbers that are shortened."""
    api, long = site.api(), "a name that is longer than the place that a list of many has for it"
    for place in range(40):
        failing = [{"title": "broken"}] * (place % 3)
        items = [{"title": f"{long} {place}"}, *failing]
        assert api.post("/api/jobs", json={"pipeline": "pages", "items": items, "key": f"{long} {place}"}).is_success
    site.run(site.service.work())
    for place in range(60):
        tags = [f"tag {place % 25}", f"{long} {place % 7}"[-60:]]
        saved = api.post("/api/bookmarks", json={"url": f"https://example.org/{place}/{'long-' * 20}", "tags": tags})
        assert saved.is_success, saved.text
    for owner in ("ann", "bob"):
        items = [{"title": str(n)} for n in range(10_000)]
        made = site.api(owner).post("/api/jobs", json={"pipeline": "pages", "items": items})
    return {"job": str(made.json()["jobId"])}


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
    *(
        Look(path, "many", heading, many, who, is_rare=True)
        for path, heading, who in (
            ("/", "Home", "ann"),
            ("/bookmarks", "Bookmarks", "ann"),
            ("/bookmarks?view=table", "Bookmarks", "ann"),
            ("/bookmarks/tags", "Tags", "ann"),
            ("/jobs", "Jobs", "ann"),
            ("/jobs/{job}", "Pages", "bob"),
            ("/jobs/{job}?tab=items", "Pages", "bob"),
            ("/pending", "Pending", "ann"),
            ("/dead-letters", "Dead letters", "ann"),
            ("/ops", "Operations", "root"),
            ("/ops/flow", "Flow", "root"),
            ("/ops/lanes", "Lanes", "root"),
            ("/ops/attempts", "Attempts", "root"),
        )
    ),
]


def routes() -> dict[str, bool]:
    """Every path of the source of the app, such as /jobs/$jobId, and whether it is for administrators only."""
    found: dict[str, bool] = {}
    for file in sorted(_PAGES.glob("*/routes.ts")):
        for declared in file.read_text("utf-8").split("createRoute(")[1:]:
            (path,) = re.findall(r'^    path: "([^"]+)",$', declared, re.MULTILINE)
            found[path] = "beforeLoad: adminOnly" in declared
    return found


def route_of(path: str) -> str | None:
    """The route that such a path of a look belongs to; one without parameters goes first."""
    parts = path.partition("?")[0].split("/")
    fitting = [route for route in routes() if _fits(route.split("/"), parts)]
    return min(fitting, key=lambda route: route.count("$"), default=None)


def _fits(route: Sequence[str], parts: Sequence[str]) -> bool:
    return len(route) == len(parts) and all(
        here.startswith("$") or here == part for here, part in zip(route, parts, strict=True)
    )


def all_looks() -> list[Look]:
    others = sorted(path.stem for path in Path(__file__).parent.glob("_looks_*.py"))
    shown = _SHELL + [look for name in others for look in import_module(f"tests.web.{name}").LOOKS]
    return shown + [
        Look(route.replace("$name", "mill:1"), "forbidden", "Not here", is_rare=True)
        for route, is_for_admins in routes().items()
        if is_for_admins
    ]
