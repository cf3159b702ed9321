"""`forebay config`: every setting, what it is, and where that comes from."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import click
from pydantic import SecretStr
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource
from rich.text import Text

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings
from forebay.settings import OTHER_NAMES, Settings

_PREFIX = "FOREBAY_"
_MASK = "**********"


@dataclass(frozen=True, slots=True)
class _Line:
    variable: str
    value: Any
    source: str
    meaning: str


@click.command()
@json_option
def config(as_json: bool) -> None:
    """Show every setting: its variable, its value, where that comes from and what it means. Secrets are masked."""
    lines, unknown = _lines(load_settings()), _unknown()
    if as_json:
        click.echo(show.dump({"settings": [asdict(line) for line in lines], "unknown": unknown}))
        return
    show.console().print(_table(lines))
    for name in unknown:
        click.echo(f"{name} is set, but there is no such setting: it has no effect", err=True)


def _lines(settings: Settings) -> list[_Line]:
    # In the order in which they count.
    sources = {"environment": EnvSettingsSource(Settings)(), ".env": DotEnvSettingsSource(Settings)()}
    return [
        _Line(
            f"{_PREFIX}{name.upper()}",
            _plain(getattr(settings, name)),
            next((source for source, given in sources.items() if name in given), "default"),
            field.description or "",
        )
        for name, field in Settings.model_fields.items()
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return _MASK
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _unknown() -> list[str]:
    """Variables that look like ours, most often by a slip of the keyboard."""
    known = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields} | OTHER_NAMES.keys()
    given = {name.upper() for name in (*os.environ, *DotEnvSettingsSource(Settings).env_vars)}
    return sorted(name for name in given - known if name.startswith(_PREFIX))


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
    """As one would write it into .env."""
    if value is None or value == "":
        return show.NOTHING
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
