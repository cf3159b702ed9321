"""The type checker reports steps whose types do not match."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".mypy_cache" / "tests"
HEAD = """
from pydantic import BaseModel
from forebay import Context, Done, NotFound, Pipeline
from forebay.engine.declare.step import Step

class Page(BaseModel):
    url: str

pages = Pipeline("pages", Page)

@pages.step()
async def size(ctx: Context, page: Page) -> int | NotFound:
    return 1

@pages.step(optional=True)
async def image(ctx: Context, page: Page) -> Done[bytes]:
    return Done(b"")
"""
GOOD = """
@pages.step(after=(size, image))
async def good(ctx: Context, page: Page, n: int, picture: bytes | None) -> str:
    return ""

@pages.step(after=size)
def also(ctx: Context, page: Page, n: int) -> Done[float]:
    return Done(1.0)

typed: Step[Page, str] = good
sync: Step[Page, float] = also
"""
BAD = {
    "result of another type": "@pages.step(after=size)\nasync def bad(ctx: Context, page: Page, n: str) -> int: ...",
    "optional without None": "@pages.step(after=image)\nasync def bad(ctx: Context, page: Page, b: bytes) -> int: ...",
    "input of another type": "@pages.step()\nasync def bad(ctx: Context, page: str) -> int: ...",
    "result missing": "@pages.step(after=size)\nasync def bad(ctx: Context, page: Page) -> int: ...",
    "submit of another type": """
import asyncpg

async def bad(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    await pages.submit(conn, 3)
""",
}


def test_the_checker_accepts_types_that_fit_and_only_those(tmp_path: Path) -> None:
    """One run for all cases, because most of its time goes into imports, which later runs find in the cache."""
    for number, text in enumerate((GOOD, *BAD.values())):
        (tmp_path / f"steps_{number}.py").write_text(HEAD + text)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--disable-error-code=empty-body",
        "--cache-dir",
        str(CACHE),
        ".",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout.splitlines()
    assert said[-1] == f"Found {len(BAD)} errors in {len(BAD)} files (checked {len(BAD) + 1} source files)", said
    errors = sorted(line for line in said if "error:" in line)
    assert [error.partition(":")[0] for error in errors] == [f"steps_{n}.py" for n in range(1, len(BAD) + 1)]
    assert [name for name, error in zip(BAD, errors, strict=True) if not error.endswith("[arg-type]")] == []
