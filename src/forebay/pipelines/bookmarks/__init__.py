"""Bookmarks: save links; workers fetch their pages, screenshots and metadata."""

from forebay.packages import Chore, Command, PipelinePackage

package = PipelinePackage(
    "bookmarks",
    __name__,
    pipelines=("steps", "imports"),
    # Paths with names come first: `/{bookmark_id}` would match them.
    routes=(
        "routes.categories",
        "routes.transfer",
        "routes.bulk",
        "routes.bookmarks",
        "routes.compatibility",
        "routes.pages",
    ),
    settings="settings:BookmarksSettings",
    commands={"bookmarks": Command("commands", "Save, find, import and export links.")},
    jobs={"bookmarks": "job_hooks:BookmarkJobs"},
    chores=(
        Chore("crawl again", "*/15 * * * *", "chores:crawl_again"),
        Chore("purge trash", "40 * * * *", "chores:purge_trash"),
        Chore("make thumbnails", "50 2 * * *", "chores:make_thumbnails"),
    ),
    outside_views="pgmq_views:VIEWS",
    first_steps={"Save a link": "bookmarks add URL"},
    suggestions="suggestions:suggest",
    search="search:SEARCH",
    owner_export="exports:owner_export",
    page_links={"/save": "Save a link"},
    features="features:features",
    larger_bodies={
        "POST /api/bookmarks": "medium",  # notes
        "PATCH /api/bookmarks/": "medium",
        "POST /api/bookmarks/import": "import",
        "POST /api/bookmarks/bulk": "medium",  # many ids
    },
)
