"""`forebay config`: every setting, what it is, and where that comes from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import click
from pydantic import SecretStr
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource
from rich.text import Text

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings, unknown_variables
from forebay.settings import Settings

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
    """Show every setting.

    Each has its variable, its value, where that comes from and what it means. Secrets are masked.
    """
    lines, unknown = _lines(load_settings()), unknown_variables()
    if as_json:
        click.echo(show.dump({"settings": [asdict(line) for line in lines], "unknown": list(unknown)}))
        return
    show.console().print(_table(lines))
    for sentence in unknown.values():
        click.echo(sentence, err=True)


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
