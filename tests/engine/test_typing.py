"""The type checker reports steps whose types do not match."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The output of the type checker for all cases, in one run, because most of its time goes into imports."""
    folder = tmp_path_factory.mktemp("typing")
    for number, text in enumerate((GOOD, *BAD.values())):
        (folder / f"steps_{number}.py").write_text(HEAD + text)
    command = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=empty-body", "."]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder).stdout.splitlines()
    assert said[-1] == f"Found {len(BAD)} errors in {len(BAD)} files (checked {len(BAD) + 1} source files)", said
    return said


def test_types_that_fit(errors: list[str]) -> None:
    assert not [error for error in errors if error.startswith("steps_0.py")]


@pytest.mark.parametrize("name", list(BAD))
def test_types_that_do_not_fit(errors: list[str], name: str) -> None:
    [error] = [
        error for error in errors if error.startswith(f"steps_{list(BAD).index(name) + 1}.py") and "error:" in error
    ]
    assert error.endswith("[arg-type]")
