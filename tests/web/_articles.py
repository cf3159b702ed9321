"""Articles in the states that their pages show, and the search over them: embedded by a real worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay import Pipeline
from forebay.pipelines.articles.imports import article_file_intake, article_files
from forebay.pipelines.articles.settings import ArticlesSettings
from forebay.pipelines.articles.steps import articles
from forebay.pipelines.indexing.steps import index
from forebay.settings import Settings
from forebay.testing import testbed
from tests.cli._run import until

if TYPE_CHECKING:
    from tests.web.conftest import Site

MILLS = """A mill takes its power from water that falls.

## The wheel

The water of the **forebay** falls onto the wheel, which turns the stone. See the
[list of mills](https://example.org/mills).

| wheel | height | efficiency |
|:------|-------:|-----------:|
| undershot | 1 m | 30 % |
| overshot | 5 m | 80 % |

1. open the gate
2. let the water fall
   - not too fast
   - not too slow

> Whoever comes first, grinds first.

```python
def power(height: float, flow: float) -> float:
    return 9.81 * 1000 * height * flow
```
"""
CATS = "A cat sat on the mat and purred. Kittens sleep most of the day, and hunt at night."
BREAD = "Knead the dough, let it rise for two hours, and bake the loaf in a hot oven.\n\n- flour\n- water\n- salt\n"
TYRE = "Remove the wheel, take out the inner tube, and patch the hole with glue and rubber."
DATABASE = "A policy in PostgreSQL decides which rows of a table a role may read."


def write(site: Site, title: str, content: str, who: str = "ann", **more: Any) -> str:
    answer = site.api(who).post("/api/articles", json={"title": title, "content": content, **more})
    assert answer.status_code == 201, answer.text
    article: str = answer.json()["id"]
    return article


def change(site: Site, article: str, **changes: Any) -> None:
    answer = site.api().put(f"/api/articles/{article}", json={"embeddingPriority": "high", **changes})
    assert answer.status_code == 200, answer.text


def embed(site: Site) -> None:
    """Do all that there is to do for articles and the index, with the model of this machine."""

    async def work() -> None:
        given = Settings(data_dir=site.service.app.state.settings.data_dir).including(ArticlesSettings())
        pipelines: list[Pipeline[Any]] = [articles, article_files, article_file_intake, index]
        async with testbed(site.service.dsn, pipelines, migrated=True, settings=given) as bed:
            await bed.finish()

    site.run(work())


def library(site: Site) -> dict[str, str]:
    """Articles in each state, one with versions, and drafts."""
    mills = write(site, "How a water mill works", MILLS.replace("80 %", "70 %"), message="First text")
    change(site, mills, content=MILLS, message="Corrects the efficiency of overshot wheels")
    cats = write(site, "House cats", CATS)
    write(site, "A flat tyre", TYRE)
    embed(site)
    bread = write(site, "Baking bread at home, without a machine and without haste, as our grandparents did", BREAD)
    change(site, cats, content=CATS + " They dislike water.")
    site.sql("update forebay.article set embedding = 'stale' where id = $1", int(cats))
    site.sql(
        "update forebay.article set embedding = 'failed', problem = 'the service of the model answered 400: too long' "
        "where id = $1",
        int(bread),
    )
    write(site, "Row-level security", DATABASE)
    write(site, "Notes that only I need", "A list of names.", skipEmbedding=True)
    api = site.api()
    for key, body in (
        ("new-1", {"title": "Turbines", "content": "A turbine turns faster than a wheel, and"}),
        (
            f"article-{mills}",
            {"title": "How a water mill works", "content": MILLS, "articleId": mills, "baseVersion": 2},
        ),
    ):
        assert api.put(f"/api/articles/drafts/{key}", json=body).is_success
    return {"article": mills, "cats": cats, "bread": bread}


def searchable(site: Site, question: str) -> None:
    """Wait until the API has opened the model: until then, it searches by words."""
    api = site.api()
    until(lambda: api.get("/api/search", params={"q": question}).json()["mode"] == "both", lambda: question)
