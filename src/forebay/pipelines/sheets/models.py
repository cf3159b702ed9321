"""The requests and responses of sheets."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from forebay.api.models import Counters, Id, Model, Next, State, Strict

if TYPE_CHECKING:
    import asyncpg

    from forebay.pipelines.sheets.db.sheets import Sheet

SheetKind = Literal["csv", "xlsx", "image", "images"]


class SheetSummary(Model):
    """A file of rows; its rows are the items of `jobId`."""

    id: Id
    job_id: Id
    intake_job_id: Id | None = Field(description="the job that reads the file; null while it is being uploaded")
    name: str
    source: str | None = Field(description="the source of the file; null: uploaded")
    kind: SheetKind | None
    size: int | None
    problem: str | None = Field(description="why the file cannot be read")
    created_at: datetime
    received_at: datetime | None
    read_at: datetime | None
    received: int = Field(description="bytes received; an upload can be continued while there are fewer than `size`")


class ListedSheet(SheetSummary):
    state: State | None = Field(description="of its job; null when the job was deleted")
    counters: Counters | None


class SheetPage(Model):
    sheets: list[ListedSheet]
    next: Next


class FieldSuggestion(Model):
    field: str
    column: str
    score: float
    reason: str


class SheetInfo(SheetSummary):
    """A sheet with all facts about its file."""

    path: str | None
    replaced_by: Id | None = Field(description="the job of the sheet that took its file, to read it again")
    file_id: Id | None = Field(description="the stored file")
    columns: list[str] | None
    mapping: dict[str, str] | None = Field(description="the column of each field")
    decimal_mark: str | None
    currency: str | None
    suggestions: list[FieldSuggestion] | None
    encoding: str | None
    delimiter: str | None
    quote: str | None = Field(description="quote character; empty: quotes are part of cells")
    notes: list[str] | None = Field(description="lines above the table, such as a title")
    tab: str | None = Field(description="name of the worksheet")
    tabs: list[str] | None
    has_header: bool | None
    warnings: list[str] = Field(description="problems while reading, such as formulas without a saved result")
    providers: list[str] | None = Field(description="providers to query first, in this order; null: as declared")
    options: dict[str, Any]


class ChangedSheet(Strict):
    """The fields to change; afterwards reprocess the job with `restart`."""

    columns: dict[str, str | None] | None = Field(
        default=None, description="the column of each field; null: no column; fields that are not named stay"
    )
    decimal_mark: Literal[".", ","] | None = None
    currency: Annotated[str, Field(max_length=40)] | None = None
    providers: list[Annotated[str, Field(max_length=50)]] | None = Field(default=None, max_length=50)


class ReadOptions(Strict):
    """How to read the file: these replace the options of the upload; null: detect it."""

    header: bool | None = Field(default=None, description="whether the first row has the column names")
    encoding: Annotated[str, Field(max_length=40)] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    sheet: Annotated[str, Field(max_length=200)] | None = Field(default=None, description="name of the worksheet")


class Reread(Strict):
    options: ReadOptions | None = Field(
        default=None, description="null: read it as before, with the same mapping of columns"
    )
    key: list[Annotated[str, Field(max_length=500)]] = Field(
        default=[], max_length=20, description="columns that identify duplicate rows, of which only the first is kept"
    )


class SheetRef(Model):
    """The sheet that replaces the one that was read before."""

    job_id: Id
    sheet_id: Id


class PreviewRow(Model):
    line: int
    cells: list[str]


class UnreadableRow(Model):
    line: int
    reason: str


class SheetPreview(Model):
    """The beginning of a file, as it would be read."""

    kind: SheetKind
    encoding: str | None
    delimiter: str | None
    quote: str | None
    tab: str | None
    tabs: list[str] | None
    has_header: bool | None
    columns: list[str]
    mapping: dict[str, str]
    suggestions: list[FieldSuggestion]
    rows: list[PreviewRow] = Field(description="the first rows, at most 200 together with `unreadable`")
    unreadable: list[UnreadableRow] = Field(description="rows among them that cannot be read")
    is_all: bool = Field(description="whether the file has no more rows")


_SUMMARY = tuple(SheetSummary.model_fields)


def listed_sheet(row: asyncpg.Record) -> ListedSheet:
    counters = None
    if row["total"] is not None:
        ended = row["done"] + row["skipped"] + row["not_found"] + row["error"]
        named = {name: row[name] for name in ("total", "done", "skipped", "not_found", "error")}
        counters = Counters(pending=row["total"] - ended, **named)
    values: dict[str, Any] = {name: row[name] for name in _SUMMARY} | {"received": row["received"] or 0}
    return ListedSheet(**values, state=row["state"], counters=counters)


def sheet_info(sheet: Sheet) -> SheetInfo:
    mapping: dict[str, Any] = sheet.mapping or {}
    layout: dict[str, Any] = sheet.layout or {}
    summary: dict[str, Any] = {name: getattr(sheet, name) for name in _SUMMARY} | {"received": sheet.received or 0}
    return SheetInfo(
        **summary,
        path=sheet.path,
        replaced_by=None if sheet.replaced_by is None else str(sheet.replaced_by),
        file_id=None if sheet.file_id is None else str(sheet.file_id),
        columns=sheet.columns,
        mapping=mapping.get("fields"),
        decimal_mark=mapping.get("decimal_mark"),
        currency=mapping.get("currency"),
        suggestions=sheet.suggestions,
        encoding=layout.get("encoding"),
        delimiter=layout.get("delimiter"),
        quote=layout.get("quote"),
        notes=layout.get("notes"),
        tab=layout.get("sheet"),
        tabs=layout.get("sheets"),
        has_header=layout.get("has_header"),
        warnings=layout.get("warnings", []),
        providers=sheet.providers,
        options=dict(sheet.options),
    )
