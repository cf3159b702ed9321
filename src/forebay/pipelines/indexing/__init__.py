"""Indexing: embeds the documents of all packages, changes the model, and searches.

The package is not called `search`, which is the part of the schema that it works on.
"""

from forebay.packages import Chore, PipelinePackage

package = PipelinePackage(
    "indexing",
    __name__,
    pipelines=("steps", "reindexing"),
    chores=(Chore("complete index", "*/10 * * * *", "chores:complete_index"),),
)
