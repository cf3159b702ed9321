"""Pipeline packages: everything that a pipeline brings, declared in one place and found without being named.

The packages in `forebay.pipelines` come with forebay. Others are installed distributions that name theirs in an entry
point of the group `forebay.pipelines`. Each is an importable package whose `__init__.py` has a `package`:

    package = PipelinePackage("bookmarks", __name__, pipelines=("steps",), routes=("routes",))

What it has is named by modules below it, so that nothing is imported before it is used: `forebay --help` imports no
pipeline, and a child process that reads one picture imports no engine.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from forebay.base_settings import PackageSettings

GROUP = "forebay.pipelines"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line: the module that has it under its own name, and its line in `forebay --help`."""

    module: str
    summary: str


@dataclass(frozen=True, slots=True)
class PipelinePackage:
    """What one package has; modules are named relative to `module`, which is the package's `__name__`."""

    name: str
    module: str
    pipelines: tuple[str, ...] = ()
    """Modules that have Pipeline objects at their top level."""
    routes: tuple[str, ...] = ()
    """Modules that have a FastAPI `router`."""
    commands: Mapping[str, Command] = field(default_factory=dict[str, Command])
    settings: str = ""
    """Module and class of its settings, as `settings:SheetsSettings`; empty: it has none."""
    metrics: str = ""
    """Module and name of its PackageMetrics, as `metrics:METRICS`; empty: it has none."""

    def load(self, name: str) -> ModuleType:
        """One of its modules, imported."""
        return import_module(f"{self.module}.{name}")

    def routers(self) -> Iterator[Any]:
        for name in self.routes:
            yield self.load(name).router

    def load_attribute(self, place: str) -> Any:
        """What one of its modules has, as `module:name`."""
        module, _, name = place.partition(":")
        return getattr(self.load(module), name)

    def settings_class(self) -> type[PackageSettings] | None:
        """Raises: DefinitionError when its variables are not FOREBAY_, its name and the setting's."""
        if not self.settings:
            return None
        found: type[PackageSettings] = self.load_attribute(self.settings)
        prefix = f"FOREBAY_{self.name.replace('-', '_').upper()}_"
        if found.variable("") != prefix:
            raise _wrong(f"{self.module} has settings that begin with {found.variable('')}, not with {prefix}")
        return found


@cache
def packages() -> tuple[PipelinePackage, ...]:
    """All packages, those of forebay first, each group in the order of their names.

    Raises: DefinitionError that names an entry point that cannot be loaded, or a name that two have.
    """
    found: dict[str, PipelinePackage] = {}
    for package in (*_built_in(), *_installed()):
        if package.name in found:
            raise _wrong(f"the name {package.name!r} has {package.module} and {found[package.name].module} already")
        found[package.name] = package
    return tuple(found.values())


def settings_classes() -> dict[str, type[PackageSettings]]:
    """The settings of all packages that have some, by the name of the package.

    Raises: DefinitionError that names a package with a variable of another one.
    """
    from forebay.settings import Settings  # noqa: PLC0415 - `forebay --help` needs none

    owners = dict.fromkeys(Settings.variables(), "forebay")
    found: dict[str, type[PackageSettings]] = {}
    for package in packages():
        if (kind := package.settings_class()) is None:
            continue
        for variable in sorted(kind.variables()):
            if variable in owners:
                raise _wrong(f"{package.module} reads {variable}, which is a setting of {owners[variable]}")
            owners[variable] = package.name
        found[package.name] = kind
    return found


def _built_in() -> Iterator[PipelinePackage]:
    home = import_module("forebay.pipelines")
    for module in sorted(pkgutil.iter_modules(home.__path__), key=lambda each: each.name):
        if module.ispkg:
            yield import_module(f"{home.__name__}.{module.name}").package


def _installed() -> Iterator[PipelinePackage]:
    from importlib import metadata  # noqa: PLC0415 - slow

    for point in sorted(metadata.entry_points(group=GROUP), key=lambda each: each.name):
        try:
            package = point.load()
        except Exception as error:
            raise _wrong(f"{point.value} cannot be imported: {type(error).__name__}: {error}") from error
        if not isinstance(package, PipelinePackage):
            raise _wrong(f"{point.value} is no PipelinePackage")
        yield package


def _wrong(what: str) -> Exception:
    from forebay.errors import DefinitionError  # noqa: PLC0415 - `forebay --help` needs no errors

    return DefinitionError(f"of the entry points {GROUP}, {what}: fix or uninstall that package")
