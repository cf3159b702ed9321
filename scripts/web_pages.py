"""Writes web/src/pages/all.ts, which collects the folders of pages, or with --check compares it.

A folder in web/src/pages with a `routes.ts` is found by its name: a new one needs no change elsewhere. The file is
generated instead of found by the bundler at run time, because the router takes the types of all links from it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from scripts.generated_files import write_or_check

PAGES = Path(__file__).parent.parent / "web" / "src" / "pages"
TARGET = PAGES / "all.ts"
HEAD = "// Written by scripts/web_pages.py from the folders of pages: do not edit.\n"


def text(folders: list[str]) -> str:
    names = {folder: re.sub(r"-(\w)", lambda found: found[1].upper(), folder) for folder in sorted(folders)}
    lines = [f'import * as {name} from "./{folder}/routes";' for folder, name in names.items()]
    lines = sorted([*lines, 'import type { Folder } from "./folder";'], key=lambda line: line.partition('"')[2])
    lines += ["", "export const routes = ["]
    lines += [f"  ...{name}.routes," for name in names.values()]
    lines += ["] as const;", "", "export const folders: readonly Folder[] = ["]
    lines += [f"  {name}," for name in names.values()]
    return HEAD + "\n".join([*lines, "];", ""])


def main() -> int:
    return write_or_check({TARGET: text([file.parent.name for file in PAGES.glob("*/routes.ts")])})


if __name__ == "__main__":
    sys.exit(main())
