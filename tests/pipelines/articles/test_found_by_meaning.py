"""From the text that somebody writes to the search that finds it by what it means, with the model of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles
from forebay.settings import Settings
from forebay.testing import testbed
from tests.api._service import serving

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

TEXTS = {
    "Sourdough": "Knead the dough, let it rise over night, and bake the loaf in a hot oven.",
    "A flat tyre": "Remove the wheel, take out the inner tube, and patch the hole.",
    "Purring": "Kittens sleep most of the day and sit in the sun when they wake.",
}
# None of these words is in a text.
QUESTIONS = {
    "how do I make bread": "Sourdough",
    "repair my bicycle": "A flat tyre",
    "pet cats": "Purring",
}


async def _hits(client: httpx.AsyncClient, question: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/search", params={"q": question})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["hits"]
    return found


def _title(hit: dict[str, Any]) -> str:
    return "".join(part["text"] for part in hit["title"])


async def test_a_hit_shows_its_words_without_the_marks_of_markdown(dsn: str) -> None:
    content = "## The wheel\n\n| a | b |\n|:--|--:|\n\nThe *water* of the [old `mill_race`](https://example.org) turns."
    async with serving(dsn, articles) as service, service.client("ann") as ann:
        assert (await ann.post("/api/articles", json={"title": "Mills", "content": content})).status_code == 201
        (hit,) = await _hits(ann, "water")
    said = " ".join("".join(part["text"] for part in hit["snippet"]).split())
    assert said == "wheel a b The water of the old mill_race turns"  # words at its ends may be left out
    assert [part["text"] for part in hit["snippet"] if part["found"]] == ["water"]


async def test_an_article_is_found_by_what_it_means(dsn: str, tmp_path: Path, run_folder: Path) -> None:
    models = run_folder / "models"  # built once for all tests of a run
    models.mkdir(exist_ok=True)
    (tmp_path / "models").symlink_to(models)
    settings = Settings(data_dir=tmp_path).including(ArticlesSettings())
    async with (
        serving(dsn, articles, data_dir=str(tmp_path)) as service,
        testbed(dsn, [articles], settings=settings, migrated=True) as bed,
        service.client("ann") as ann,
        service.client("bob") as bob,
    ):
        ids: dict[str, str] = {}
        for title, content in TEXTS.items():
            created = await ann.post("/api/articles", json={"title": title, "content": content})
            assert (created.status_code, created.json()["embedding"]) == (201, "waiting")
            ids[title] = created.json()["id"]
        await bed.finish()
        for question, title in QUESTIONS.items():
            best = (await _hits(ann, question))[0]
            assert (best["kind"], best["ref"], _title(best)) == ("article", ids[title], title)
            assert await _hits(bob, question) == []

        changed = {"content": "The moon is full in two weeks."}
        assert (await ann.put(f"/api/articles/{ids['Sourdough']}", json=changed)).status_code == 200
        assert (await ann.delete(f"/api/articles/{ids['Purring']}")).status_code == 200
        await bed.finish()
        assert (await _hits(ann, "astronomy and the night sky"))[0]["ref"] == ids["Sourdough"]
        assert ids["Purring"] not in [hit["ref"] for hit in await _hits(ann, "pet cats")]
