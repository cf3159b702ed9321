"""Articles: texts that people write, saved at once and embedded for the search a moment later."""

from forebay.packages import PipelinePackage

package = PipelinePackage(
    "articles",
    __name__,
    pipelines=("steps",),
    # Paths with names come first: `/{article_id}` would match them.
    routes=("routes.drafts", "routes.articles", "routes.versions"),
    settings="settings:ArticlesSettings",
    larger_bodies={
        "POST /api/articles": "body",
        "PUT /api/articles/": "body",
    },
)
