"""Indexing: embeds the documents of all packages, changes the model, and searches.

The package is not called `search`, which is the part of the schema that it works on.
"""

from forebay.packages import Chore, Command, PipelinePackage

package = PipelinePackage(
    "indexing",
    __name__,
    pipelines=("steps", "reindexing"),
    routes=("routes.searching", "routes.saved"),
    commands={"search": Command("commands", "The index of all searches: its models, and what it has.")},
    metrics="metrics:METRICS",
    checks=("checks:check_search",),
    api_lifespan="lifespan:query_model",
    chores=(Chore("complete index", "*/10 * * * *", "chores:complete_index"),),
)
