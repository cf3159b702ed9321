"""Housekeeping: runs the chores of all packages, and those of the service, as jobs."""

from forebay.packages import Chore, PipelinePackage

package = PipelinePackage(
    "housekeeping",
    __name__,
    pipelines=("steps",),
    chores=(
        Chore("clean uploads", "12 3 * * *", "intake_chore:clean_uploads", timeout_s=3600),
        Chore("clean storage", "17 3 * * *", "storage_chore:clean_storage", timeout_s=3600),
        Chore("count storage", "23 * * * *", "storage_chore:count_storage"),
        Chore("delete expired", "7 * * * *", "identity_chore:delete_expired"),
    ),
)
