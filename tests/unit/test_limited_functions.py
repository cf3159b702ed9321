"""Each limited function is declared once: workers keep processes, and their models, per declaration."""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict

from forebay import pipelines
from forebay.engine.declare.limited import Limited


def test_each_limited_function_is_declared_once() -> None:
    declared: dict[str, set[int]] = defaultdict(set)
    for module in pkgutil.walk_packages(pipelines.__path__, "forebay.pipelines."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Limited):
                declared[f"{value.fn.__module__}.{value.fn.__qualname__}"].add(id(value))
    assert {"forebay.services.images.inspect", "forebay.services.ocr.read_text"} <= set(declared)
    assert [name for name, found in declared.items() if len(found) > 1] == []
