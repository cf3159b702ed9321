"""A second owner sees nothing of the first: no page, list, event, search, suggestion, thumbnail or deep link."""

from __future__ import annotations

import json
import re

from playwright.sync_api import APIResponse, Page, expect

from tests.web import _looks_attachments, _looks_media
from tests.web._articles import write
from tests.web._marks import collection, save
from tests.web._pages import all_looks
from tests.web._sheets import sheet_with_rows
from tests.web.conftest import Site

# Words that only the first owner's things have.
_OWN = re.compile(
    r"quagga|broken on purpose|water wheel|water mill|\bmills\b|Rivers|stock\.csv|Lamp no"
    r"|lower basin|invoice\.pdf|offer\.xlsx|signature does not match|What a forebay is|front of a turbine|Six lectures",
    re.IGNORECASE,
)
_KEEP_EVENTS = """
window.__events = [];
const Source = window.EventSource;
window.EventSource = class extends Source {
  constructor(...given) {
    super(...given);
    for (const kind of ["job", "item", "progress", "digest", "overview"])
      this.addEventListener(kind, event => window.__events.push(event.data));
  }
};
"""


def test_a_second_owner_sees_nothing_of_the_first(site: Site) -> None:
    values = _things_of_ann(site)
    bob = site.person("bob")
    bob.allowed = {404}
    bob.ignores_shift = True  # one page after the other: its own test measures each
    bob.page.context.add_init_script(_KEEP_EVENTS)
    for path in _paths(values):
        page = bob.open(path)
        expect(page.locator("main h1")).to_be_attached()
        expect(page.locator("[aria-busy=true], [role=status]:has-text('Loading')")).to_have_count(0)
        shown = page.locator("main")
        # A search field has what was searched for.
        assert _own_words(shown.inner_text() if "?q=" in path else shown.inner_html()) == [], path
    _asks(site, bob.page, values)
    _stream(site, bob.page, values["job"])


def _things_of_ann(site: Site) -> dict[str, str]:
    """Bookmarks that were read, a sheet, an article, attachments, media, a job that failed in part, and one that
    waits."""
    values = collection(site) | {"sheet": sheet_with_rows(site, 2000)}
    items = [{"title": "quagga"}, {"title": "broken"}]
    ended = site.api().post("/api/jobs", json={"pipeline": "pages", "items": items, "key": "quagga 1"}).json()["jobId"]
    site.run(site.service.work())
    save(site, "https://quagga.example/waits", "quagga")
    article = write(site, "The quagga", "It lived near rivers.")
    values |= (
        {"article": article, "cats": article, "bread": article}
        | _looks_attachments.lively(site)
        | _looks_media.lively(site)
    )
    made = site.api().post("/api/jobs", json={"pipeline": "pages", "items": items, "key": "quagga 2"})
    return values | {"job": str(ended), "waiting": str(made.json()["jobId"])}


def _paths(values: dict[str, str]) -> list[str]:
    """All paths that pages are tested at, those of single things with the first owner's; without their filters, which
    could hide what is there."""
    paths = {look.path.partition("?")[0] for look in all_looks()} | {
        "/jobs/{waiting}",
        "/jobs/{job}?tab=record",
        "/sheets/{sheet}",
        "/bookmarks/{pictured}?tab=picture",
        "/bookmarks?q=water",
        "/jobs?q=quagga",
        "/search?q=quagga",
    }
    return sorted(path.format(**values) for path in paths)


def _own_words(text: str) -> list[str]:
    return _OWN.findall(text)


def _asks(site: Site, page: Page, values: dict[str, str]) -> None:
    """What pages ask for: the first owner gets it, the second does not."""
    mark = site.api().get(f"/api/bookmarks/{values['pictured']}").json()
    picture = next(file for name, file in mark["files"].items() if name == "image")["id"]
    job = values["job"]
    for path in (
        "/api/suggest?q=quagga",
        "/api/bookmarks?q=water",
        "/api/bookmarks/tags",
        f"/api/files/{picture}",
        f"/api/files/{picture}/thumbnail?w=160",
        f"/api/files/{picture}/content",
        f"/api/jobs/{job}",
        f"/api/jobs/{job}/items/1",
        f"/api/jobs/{job}/graph",
        f"/api/jobs/{values['sheet']}/grid",
        f"/api/jobs/{values['sheet']}/ribbon",
        f"/api/jobs/{values['waiting']}/why",
        f"/api/sheets/{values['sheet']}",
        f"/api/bookmarks/{values['mark']}/changes",
        "/api/articles",
        "/api/articles/tasks",
        f"/api/articles/{values['article']}",
        f"/api/articles/{values['article']}/versions",
        "/api/attachments/instances",
        f"/api/attachments/instances/{values['instance']}",
        "/api/attachments/files/failed",
        "/api/attachments/deliveries",
        "/api/shares",
        f"/api/shares/{values['share']}",
        f"/api/shares/{values['share']}/transcript",
        f"/api/shares/{values['share']}/transcript.txt",
        "/api/dead-letters",
        "/api/pending",
    ):
        mine = site.api().get(path)
        theirs: APIResponse = page.request.get(f"{site.url}{path}")
        assert mine.status_code == 200, path
        if mine.headers["content-type"].startswith("application/json") and theirs.status == 200:
            assert _own_words(mine.text), path  # the words are there to be found
            assert _own_words(theirs.text()) == [], path
        else:
            assert theirs.status == 404, path


def _stream(site: Site, page: Page, job: str) -> None:
    """Events of the first owner's jobs are not sent, also not to somebody who asks for one of them by its number."""
    asked = page.request.get(f"{site.url}/api/events?jobId={job}")
    assert asked.status == 404
    with page.expect_response(lambda response: "/api/events" in response.url):
        page.goto(f"{site.url}/")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    site.api().post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "quagga"}]})
    site.api("bob").post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "zebra"}, {"title": "zebra"}]})
    running = page.get_by_role("list", name="Running jobs")
    expect(running.get_by_text("0 of 2 items")).to_be_visible()
    site.run(site.service.work())
    expect(running.get_by_text("2 of 2 items")).to_be_visible()
    heard = [json.loads(event) for event in page.evaluate("window.__events")]
    assert {event["owner"] for event in heard if "owner" in event} == {"bob"}
    assert _own_words(json.dumps(heard)) == []
