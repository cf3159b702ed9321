"""Sheets: rows of a file, normalized, looked up, shown as a grid."""

from forebay.packages import Command, PipelinePackage

package = PipelinePackage(
    "sheets",
    __name__,
    pipelines=("steps", "intake", "scans", "exports", "catalogue_rows"),
    routes=("routes.sheets", "routes.uploads", "routes.ingestion", "routes.exports", "routes.catalogues"),
    settings="settings:SheetsSettings",
    metrics="metrics:METRICS",
    commands={
        "ingest": Command("commands.ingest", "Read files of rows (CSV, XLSX) or pictures."),
        "catalogue": Command("commands.catalogue", "List, share and delete product catalogues."),
    },
)
