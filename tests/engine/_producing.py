"""Shared by the tests of submitting: a pipeline, and row counts of all tables that a submit may write to."""

from __future__ import annotations

import json
from typing import Any

import asyncpg
from pydantic import BaseModel, Field

from forebay import Context, Pipeline
from forebay.types import JobSummary

TABLES = ("audit", "dead_letter", "item", "job", "lane", "lease", "owner", "ready", "schedule", "scheduled")


class Page(BaseModel):
    url: str
    rank: float | None = None
    tags: list[str] = Field(default_factory=list)


pages = Pipeline("pages", Page, max_input_bytes=1000)
papers: Pipeline[dict[str, Any]] = Pipeline("papers", dict[str, Any])
ledgers = Pipeline("ledgers", Page)
strangers = Pipeline("strangers", Page)  # its steps are declared elsewhere, and it is not registered


@pages.step()
async def fetch(ctx: Context, page: Page) -> int:
    return len(page.url)


@papers.step()
async def read(ctx: Context, paper: dict[str, Any]) -> None: ...


@ledgers.step()
async def enter(ctx: Context, page: Page) -> str:
    return page.url


@ledgers.after_all()
async def close(ctx: Context, job: JobSummary) -> int:
    return job.done


async def register(conn: asyncpg.Connection[Any]) -> None:
    """Register all pipelines except `strangers`."""
    for pipeline in (pages, papers, ledgers):
        await conn.execute("select forebay.register($1)", json.dumps(pipeline.definition()))


async def counts(conn: asyncpg.Connection[Any]) -> dict[str, int]:
    """The number of rows of each table that has any."""
    found = {table: await conn.fetchval(f"select count(*) from forebay.{table}") for table in TABLES}
    return {table: rows for table, rows in found.items() if rows}


async def inputs_of(conn: asyncpg.Connection[Any], job_id: int) -> list[Any]:
    rows = await conn.fetch("select input from forebay.item where job_id = $1 and n > 0 order by n", job_id)
    return [json.loads(row["input"]) for row in rows]


ONE_ITEM = {"item": 1, "job": 1, "lane": 1, "owner": 1, "ready": 1}
