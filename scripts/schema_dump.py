"""Writes what the migrations make of an empty database to src/forebay/sql/schema.sql, or with --check compares it.

Functions are left out: their source is sql/routines. Run `python scripts/schema_dump.py` after changing a migration.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from forebay.db.migrate import migrate
from forebay.embedded import EmbeddedPostgres
from forebay.embedded.cluster import find_binaries

TARGET = Path(__file__).parent.parent / "src" / "forebay" / "sql" / "schema.sql"
NOISE = ("--", "\\restrict", "\\unrestrict", "SET ", "SELECT pg_catalog.set_config", "COMMENT ON SCHEMA")


def dump(server: EmbeddedPostgres, dsn: str) -> str:
    """The schema as PostgreSQL sees it, without what differs from run to run."""
    tools = find_binaries(server.home, None, None, print)
    with tempfile.TemporaryDirectory() as folder:
        archive, listing = Path(folder) / "schema.dump", Path(folder) / "list"
        run(tools / "pg_dump", "-Fc", "--schema-only", "--no-owner", "--schema=forebay", "-f", archive, dsn)
        entries = run(tools / "pg_restore", "-l", archive).splitlines()
        listing.write_text("\n".join(entry for entry in entries if " FUNCTION " not in entry))
        text = run(tools / "pg_restore", "--no-owner", "-L", listing, "-f", "-", archive)
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith(NOISE)]
    return (
        "-- What the migrations make of an empty database; written by scripts/schema_dump.py.\n"
        + "\n".join(lines)
        + "\n"
    )


def run(*command: str | Path) -> str:
    env = {**os.environ, "PGOPTIONS": ""}
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, env=env).stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        with EmbeddedPostgres(Path(folder) / "pg", settings={"fsync": "off"}) as server:
            asyncio.run(migrate(server.dsn))
            text = dump(server, server.dsn)
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    stored = TARGET.read_text() if TARGET.exists() else ""
    if stored == text:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(stored.splitlines(True), text.splitlines(True), "schema.sql", "migrations")
    )
    print("\nsrc/forebay/sql/schema.sql is not what the migrations make: run `python scripts/schema_dump.py`")
    return 1


if __name__ == "__main__":
    sys.exit(main())
