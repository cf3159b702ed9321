"""Media: links to videos, sound and pictures are downloaded in the background, transcribed and searched."""

from forebay.packages import Command, PipelinePackage

package = PipelinePackage(
    "media",
    __name__,
    pipelines=("steps",),
    routes=("routes.shares", "routes.transcripts"),
    settings="settings:MediaSettings",
    jobs={"media": "job_hooks:ShareJobs"},
    commands={"media": Command("commands", "Download videos, sound and pictures, and show their state.")},
    suggestions="suggestions:suggest",
    owner_export="owner_export:owner_export",
    features="features:features",
    larger_bodies={"POST /api/shares": "medium"},  # many links
)
