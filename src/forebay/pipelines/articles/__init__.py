"""Articles: texts that people write, saved at once and embedded for the search a moment later."""

from forebay.packages import Chore, Command, PipelinePackage

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
    metrics="metrics:METRICS",
    commands={"articles": Command("commands", "Write, list, show, import and embed articles.")},
    jobs={"articles": "job_hooks:ArticleJobs"},
    checks=("checks:check",),
    demo="demo:submit_demo",
    first_steps={"Write an article": "articles add FILE"},
    suggestions="suggestions:suggest",
    owner_export="owner_export:owner_export",
    features="features:features",
    intake={"article_files": "files:FILES"},
    settings="settings:ArticlesSettings",
    search="search:SEARCH",
    larger_bodies={
        "POST /api/articles": "body",
        "PUT /api/articles/": "body",
    },
)
