"""Sheets: the rows of a file are normalized, matched with products, and shown as a grid."""

from forebay.packages import Command, PipelinePackage

package = PipelinePackage(
    "sheets",
    __name__,
    pipelines=("steps", "intake", "exports", "catalogue_rows"),
    routes=("routes.sheets", "routes.reading", "routes.starting", "routes.exports", "routes.catalogues"),
    settings="settings:SheetsSettings",
    metrics="metrics:METRICS",
    commands={
        "ingest": Command("commands.ingest", "Read files of rows (CSV, XLSX) or images."),
        "catalogue": Command("commands.catalogue", "List, share and delete product catalogues."),
    },
    jobs={
        "sheets": "job_hooks:SheetFiles",
        "sheet_images": "job_hooks:SheetJobs",
        "catalogue_rows": "job_hooks:SheetJobs",
        "sheet_intake": "job_hooks:ReceivingJobs",
        "sheet_exports": "job_hooks:ExportJobs",
    },
    intake={"sheets": "files:FILES"},
    checks=("extra_checks:check", "provider_checks:check"),
    demo="demo:submit_demo",
    first_steps={"Upload a sheet": "ingest FILE"},
    features="features:features",
    suggestions="suggestions:suggest",
    search="search:SEARCH",
    owner_export="owner_export:owner_export",
)
