"""`forebay config`: every setting, its value, and the origin of the value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click
from pydantic import SecretStr
from rich.text import Text

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings, unknown_variables
from forebay.packages import settings_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.base_settings import SettingsBase

_MASK = "**********"


@dataclass(frozen=True, slots=True)
class _Line:
    package: str | None
    variable: str
    value: Any
    source: str
    meaning: str


@click.command()
@json_option
def config(as_json: bool) -> None:
    """Show every setting.

    For each: its variable, value, origin of the value, and meaning. Secrets are masked.
    """
    settings, unknown = load_settings(), unknown_variables()
    lines = [*_lines(None, settings)]
    for package, kind in settings_classes().items():
        lines += _lines(package, settings.of(kind))
    if as_json:
        click.echo(show.dump({"settings": [asdict(line) for line in lines], "unknown": list(unknown)}))
        return
    show.console().print(_table(lines))
    for sentence in unknown.values():
        click.echo(sentence, err=True)


def _lines(package: str | None, settings: SettingsBase) -> Iterator[_Line]:
    kind = type(settings)
    origins = kind.origins()
    for name, field in kind.model_fields.items():
        value = _plain(getattr(settings, name))
        yield _Line(package, kind.variable(name), value, origins.get(name, "default"), field.description or "")


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return _MASK
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _table(lines: list[_Line]) -> Any:
    made = show.table("variable", "value", "from", "*meaning")
    made.columns[-1].no_wrap = False
    for line in lines:
        style = "dim" if line.source == "default" else "default"
        made.add_row(line.variable, Text(_text(line.value), style=style), line.source, Text(line.meaning))
    made.columns[1].max_width, made.columns[1].overflow = 30, "fold"
    made.columns[1].no_wrap = False
    return made


def _text(value: Any) -> str:
    """The value as written in .env."""
    if value is None or value == "":
        return show.NOTHING
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
