"""Writes what the migrations of each schema part add to its sql/schema.sql, or with --check compares it.

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
from typing import TYPE_CHECKING

from forebay.db.migrate import migrate
from forebay.db.schema_parts import all_parts
from forebay.embedded import EmbeddedPostgres
from forebay.embedded.cluster import find_binaries

if TYPE_CHECKING:
    from collections.abc import Iterator

NOISE = ("--", "\\restrict", "\\unrestrict", "SET ", "SELECT pg_catalog.set_config", "COMMENT ON SCHEMA")


def dump(server: EmbeddedPostgres, dsn: str) -> list[str]:
    """The schema as PostgreSQL sees it, statement by statement, without what differs from run to run."""
    tools = find_binaries(server.home, None, None, print)
    with tempfile.TemporaryDirectory() as folder:
        archive, listing = Path(folder) / "schema.dump", Path(folder) / "list"
        run(tools / "pg_dump", "-Fc", "--schema-only", "--no-owner", "--schema=forebay", "-f", archive, dsn)
        entries = run(tools / "pg_restore", "-l", archive).splitlines()
        listing.write_text("\n".join(entry for entry in entries if " FUNCTION " not in entry))
        text = run(tools / "pg_restore", "--no-owner", "-L", listing, "-f", "-", archive)
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith(NOISE)]
    return "\n".join(lines).split(";\n")


def run(*command: str | Path) -> str:
    env = {**os.environ, "PGOPTIONS": ""}
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, env=env).stdout


def dumps() -> Iterator[tuple[Path, str]]:
    """What each part adds to those before it, and where that is kept."""
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        with EmbeddedPostgres(Path(folder) / "pg", settings={"fsync": "off"}) as server:
            for part in all_parts():
                asyncio.run(migrate(server.dsn, parts=[part]))
                statements = dump(server, server.dsn)
                added = [statement.rstrip(";") + ";" for statement in statements if statement.rstrip(";") not in known]
                known |= {statement.rstrip(";") for statement in statements}
                if part.folder is not None and part.package.startswith("forebay."):
                    head = f"-- What the migrations of {part.name} add to the parts before; by scripts/schema_dump.py."
                    yield part.folder / "schema.sql", "\n".join([head, *added]) + "\n"


def main() -> int:
    differ = False
    for target, text in dumps():
        stored = target.read_text() if target.exists() else ""
        if "--check" not in sys.argv:
            target.write_text(text)
        elif stored != text:
            differ = True
            old, new = stored.splitlines(keepends=True), text.splitlines(keepends=True)
            sys.stdout.writelines(difflib.unified_diff(old, new, str(target), "migrations"))
            print(f"\n{target} is not what the migrations make: run `python scripts/schema_dump.py`")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
