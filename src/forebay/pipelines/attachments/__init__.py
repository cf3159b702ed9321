"""Attachments: files that senders announce by webhooks are downloaded in the background, and listed in a voucher."""

from forebay.packages import Chore, Command, PipelinePackage

package = PipelinePackage(
    "attachments",
    __name__,
    pipelines=("steps",),
    routes=("routes.hooks", "routes.instances", "routes.files", "routes.status"),
    settings="settings:AttachmentsSettings",
    metrics="metrics:METRICS",
    commands={"attachments": Command("commands", "List received files, retry failed ones.")},
    jobs={"attachments": "job_hooks:AttachmentJobs", "attachment_files": "job_hooks:AttachmentJobs"},
    checks=("checks:check",),
    chores=(Chore("clean attachments", "*/10 * * * *", "chores:clean"),),
    suggestions="suggestions:suggest",
    owner_export="owner_export:owner_export",
    features="features:features",
    larger_bodies={"POST /api/attachments/hooks/": 1 << 20},
)
