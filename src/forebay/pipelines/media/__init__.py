"""Media: links to videos, sound and pictures are downloaded in the background, transcribed and searched."""

from forebay.packages import Chore, Command, PipelinePackage

package = PipelinePackage(
    "media",
    __name__,
    pipelines=("steps", "intake"),
    routes=("routes.shares", "routes.transcripts"),
    settings="settings:MediaSettings",
    metrics="metrics:METRICS",
    jobs={"media": "job_hooks:ShareJobs"},
    intake={"media": "intake:FILES"},
    commands={"media": Command("commands", "Download videos, sound and pictures, and show their state.")},
    checks=("checks:check",),
    chores=(Chore("expire media", "20 * * * *", "chores:expire_media"),),
    first_steps={"Download a video": "media add URL"},
    suggestions="suggestions:suggest",
    search="search:SEARCH",
    owner_export="owner_export:owner_export",
    features="features:features",
    larger_bodies={"POST /api/shares": "medium"},  # many links
)
