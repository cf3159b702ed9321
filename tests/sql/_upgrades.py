"""Databases as releases have left them in which the migrations of all parts were numbered together."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg

from forebay.embedded import find_program

if TYPE_CHECKING:
    from forebay.db.pool import Connection

FOLDER = Path(__file__).parent / "single_numbering"
VERSIONS = tuple(int(file.name[:4]) for file in sorted(FOLDER.glob("*.sql")))
_OUTSIDE = "-- outside a transaction"
_PREPARE = """
create schema forebay;
create table forebay.migration (
    version int primary key, name text not null, applied_at timestamptz not null default clock_timestamp()
);
"""


async def make_version(conn: Connection, version: int) -> None:
    """The tables of that version, without routines: as a migration that was interrupted leaves them."""
    await conn.execute(_PREPARE)
    for file in sorted(FOLDER.glob("*.sql"))[:version]:
        text = file.read_text()
        for statement in text.split(";\n") if text.startswith(_OUTSIDE) else [text]:
            if statement.strip():
                await conn.execute(statement)
        await conn.execute(
            "insert into forebay.migration (version, name) values ($1, $2)", int(file.name[:4]), file.stem[5:]
        )


async def make_last(dsn: str) -> None:
    """The whole database that the last of these releases made, with a row or more in every table."""
    conn = await asyncpg.connect(dsn)  # one of its own: the dump changes settings of the session
    await conn.execute("create extension pg_trgm schema public")
    dump = gzip.decompress((FOLDER / "database_0019.sql.gz").read_bytes()).decode()
    if conn.get_server_version().major < 17:
        dump = dump.replace("SET transaction_timeout = 0;\n", "", 1)
    await conn.execute(dump)
    await conn.close()


async def contents(conn: Connection) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables, but for those of the migrator and partitions."""
    tables = await conn.fetch(
        "select relname from pg_class where relnamespace = 'forebay'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and relname not in ('migration', 'part', 'part_routine') order by 1"
    )
    return {
        name: [
            json.loads(row[0]) for row in await conn.fetch(f"select to_jsonb(t)::text from forebay.{name} t order by 1")
        ]
        for (name,) in tables
    }


def schema_of(dsn: str) -> list[str]:
    """Everything in the schema, as PostgreSQL writes it: a statement each, in alphabetical order."""
    program = find_program("pg_dump")
    assert program is not None
    command = [str(program), "--schema-only", "--no-owner", "--schema=forebay", dsn]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("--", "\\"))]
    return sorted("\n".join(lines).rstrip(";").split(";\n"))
