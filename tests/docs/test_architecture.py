"""The page about the architecture names files that exist, and all parts of the package."""

from __future__ import annotations

import re

from tests.docs._blocks import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:src|tests|docs|scripts)/[^`*]+)`", PAGE)
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_layer_is_in_the_diagram() -> None:
    diagram = PAGE.split("```")[1]
    layers = {path.name for path in (ROOT / "src" / "forebay").iterdir() if (path / "__init__.py").exists()}
    assert sorted(name for name in layers if not re.search(rf"\b{name}\b", diagram)) == []
