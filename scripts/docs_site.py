"""Builds the documentation as a static site with search that works offline, in build/site; `make docs` runs it.

The pages are the Markdown files of the repository. They are copied with their folders, so that links work on the site
as they do in the repository. A broken link, or a page that is missing in the navigation, fails the build.

Why Sphinx with MyST and Furo: 75 MB in 33 packages, no requests to other servers, and a search that works without a web
server. MkDocs alone has 16 MB, but its theme loads scripts from a CDN and its search needs a web server; with Material
and mkdocstrings it has 125 MB. Zensical has 117 MB and is before its first stable release.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.application import Sphinx

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build"
SOURCE = BUILD / "site-source"
SITE = BUILD / "site"

# What the site has besides docs/. The README is the front page.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
    "LICENSE": "LICENSE",
    "ops/README.md": "ops/README.md",
    "bench/RESULTS.md": "bench/RESULTS.md",
    "bench/PIPELINES.md": "bench/PIPELINES.md",
}
# The navigation: chapters in the order of the front page; those with an index list their pages by the links in it.
CHAPTERS = (
    "docs/quickstart",
    "docs/tour",
    "docs/concepts",
    "docs/howto/index",
    "docs/reference/index",
    "docs/architecture",
    "docs/security",
    "docs/decisions/index",
    "bench/RESULTS",
    "CHANGELOG",
)
BELOW = {"bench/RESULTS": ["PIPELINES"], "docs/howto/index": ["../../ops/README"], "docs/security": ["../SECURITY"]}

OPTIONS = {
    "project": "forebay",
    "copyright": "the authors of forebay",
    "root_doc": "index",
    "extensions": ["myst_parser"],
    "html_theme": "furo",
    "html_title": "forebay",
    "html_show_sphinx": False,
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "myst_heading_anchors": 4,
    "myst_links_external_new_tab": False,
    "highlight_language": "text",
    "nitpicky": True,
}

_LINK = re.compile(r"\]\(([\w./-]+)\.md\)")
_FILE_NAME = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)


def build() -> int:
    """The number of warnings; 0 when all is well."""
    stage()
    app = Sphinx(
        SOURCE,
        None,
        SITE,
        BUILD / "site-cache",
        "html",
        confoverrides=OPTIONS,
        status=None,
        warning=sys.stderr,
        freshenv=True,
    )
    app.build(force_all=True)
    return app._warncount  # noqa: SLF001 - Sphinx tells it nowhere else


def stage() -> None:
    """The pages in a folder of their own, each with the navigation below it."""
    for folder in (SOURCE, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE / "docs")
    for here, there in PAGES.items():
        target = SOURCE / there
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / here, target)
    for page in SOURCE.rglob("*.md"):
        name = page.relative_to(SOURCE).with_suffix("").as_posix()
        text = _FILE_NAME.sub(r"`\2`:\n\n```\1", page.read_text("utf-8"))
        page.write_text(text + _tree(list(_below(name, page, text))), "utf-8")


def _below(name: str, page: Path, text: str) -> Iterator[str]:
    """The pages that the navigation shows below this one, relative to it."""
    if name == "index":
        yield from CHAPTERS
    elif name == "docs/decisions/index":
        yield from sorted(each.stem for each in page.parent.glob("[0-9]*.md"))
    elif name.endswith("/index"):
        yield from dict.fromkeys(_LINK.findall(text))
    yield from BELOW.get(name, ())


def _tree(pages: list[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n" if pages else ""


def main() -> int:
    if warnings := build():
        print(f"\nthe site has {warnings} faults: see above")
        return 1
    print(f"open {SITE / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
