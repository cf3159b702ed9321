"""Imports the pipelines that the settings name."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forebay.db.schema_parts import parts_for
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import DefinitionError
from forebay.packages import GROUP, leave_out, packages

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from forebay.db.schema_parts import SchemaPart


def load_pipelines(modules: Iterable[str]) -> list[Pipeline[Any]]:
    """All pipelines at the top level of these modules, without duplicates; `forebay.pipelines` means all packages, and
    the module of a package, such as `forebay.pipelines.NAME`, its pipelines.

    An installed package that cannot be used is omitted; `forebay.packages.failures` lists it.

    Raises: DefinitionError, which names the module, or the pipeline that two modules declare.
    """
    _add_current_folder()
    found: _Found = {}
    parts = {package.module: package.pipelines for package in packages()}
    for name in modules:
        if name == GROUP:
            _add_packages(found)
        elif name in parts:
            for part in parts[name]:
                _add(found, f"{name}.{part}")
        else:
            _add(found, name)
    if not found:
        raise DefinitionError("there are no pipelines to run: name their modules in FOREBAY_PIPELINES or --pipelines")
    return [pipeline for pipeline, _ in found.values()]


def parts_needed(pipelines: Iterable[Pipeline[Any]]) -> tuple[SchemaPart, ...]:
    """The schema parts that the steps of these pipelines need."""
    functions = [step.fn for pipeline in pipelines for step in pipeline.steps.values()]
    # A function from exec() has no module.
    return parts_for({getattr(function, "__module__", None) or "" for function in functions})


_Found: TypeAlias = dict[str, tuple[Pipeline[Any], str]]  # pipeline and its module


def _add_packages(found: _Found) -> None:
    for package in packages():
        own = found.copy()
        try:
            for module in package.pipelines:
                _add(own, f"{package.module}.{module}")
        except DefinitionError as error:
            leave_out(package, error)
        else:
            found.update(own)


def _add(found: _Found, name: str) -> None:
    for pipeline in _pipelines_of(_imported(name), name):
        known, where = found.setdefault(pipeline.name, (pipeline, name))
        if known is not pipeline:
            raise DefinitionError(f"pipeline {pipeline.name!r} is declared twice: in {where!r} and in {name!r}")


def _add_current_folder() -> None:
    """Make modules in the current directory importable, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except DefinitionError as error:
        raise DefinitionError(f"module {name!r}: {error}") from error
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            hint = "check FOREBAY_PIPELINES, and that the module is installed or in this folder"
            raise DefinitionError(f"there is no module {name!r}: {hint}") from error
        raise DefinitionError(
            f"module {name!r} cannot be imported: it needs {error.name!r}, which is missing"
        ) from error
    except Exception as error:
        raise DefinitionError(f"module {name!r} cannot be imported: {type(error).__name__}: {error}") from error


def _pipelines_of(module: ModuleType, name: str) -> list[Pipeline[Any]]:
    pipelines: list[Pipeline[Any]] = [value for value in vars(module).values() if isinstance(value, Pipeline)]
    if not pipelines:
        raise DefinitionError(f"module {name!r} has no Pipeline at its top level")
    return pipelines
