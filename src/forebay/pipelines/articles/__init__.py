"""Articles: texts that people write, saved at once and embedded for the search a moment later."""

from forebay.packages import Chore, PipelinePackage

package = PipelinePackage(
    "articles",
    __name__,
    pipelines=("steps", "imports"),
    # Paths with names come first: `/{article_id}` would match them.
    routes=("routes.drafts", "routes.tasks", "routes.articles", "routes.versions"),
    chores=(
        Chore("clear article tasks", "9 * * * *", "chores:clear_tasks"),
        Chore("queue articles", "27 * * * *", "chores:queue_unembedded"),
    ),
    intake={"article_files": "files:FILES"},
    settings="settings:ArticlesSettings",
    larger_bodies={
        "POST /api/articles": "body",
        "PUT /api/articles/": "body",
    },
)
