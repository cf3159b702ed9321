"""Sheets: rows of a file, normalized, looked up, shown as a grid."""

from forebay.packages import Chore, Command, PipelinePackage

package = PipelinePackage(
    "sheets",
    __name__,
    pipelines=("steps", "intake", "scans", "exports", "catalogue_rows"),
    routes=("routes.sheets", "routes.tus", "routes.sources", "routes.exports", "routes.catalogues"),
    settings="settings:SheetsSettings",
    metrics="metrics:METRICS",
    commands={
        "ingest": Command("commands.ingest", "Read files of rows (CSV, XLSX) or pictures."),
        "catalogue": Command("commands.catalogue", "List, share and delete product catalogues."),
    },
    jobs={
        "sheets": "job_hooks:SheetFiles",
        "sheet_images": "job_hooks:SheetJobs",
        "catalogue_rows": "job_hooks:SheetJobs",
    },
    checks=("extra_checks:check", "provider_checks:check", "source_checks:check"),
    chores=(Chore("clean uploads", "12 3 * * *", "chores:clean_uploads", timeout_s=3600),),
    demo="demo:submit_demo",
    first_steps={"Upload a sheet": "ingest FILE"},
    home_section="pages/home",
    larger_bodies={"PATCH /api/uploads/": "upload"},
)
