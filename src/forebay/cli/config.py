"""`forebay config`: every setting, its value, and the origin of the value."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings, unknown_variables
from forebay.settings_list import list_settings

if TYPE_CHECKING:
    from forebay.settings_list import SettingRow


@click.command()
@json_option
def config(as_json: bool) -> None:
    """Show every setting.

    For each: its variable, value, origin of the value, and meaning. Secrets are masked.
    """
    settings, unknown = load_settings(), unknown_variables()
    rows = list_settings(settings)
    if as_json:
        click.echo(show.dump({"settings": [asdict(row) for row in rows], "unknown": list(unknown)}))
        return
    show.console().print(_table(rows))
    for sentence in unknown.values():
        click.echo(sentence, err=True)


def _table(rows: list[SettingRow]) -> Any:
    made = show.table("variable", "value", "from", "*meaning")
    made.columns[-1].no_wrap = False
    for row in rows:
        style = "dim" if row.source == "default" else "default"
        made.add_row(row.variable, Text(_text(row.value), style=style), row.source, Text(row.meaning))
    made.columns[1].max_width, made.columns[1].overflow = 30, "fold"
    made.columns[1].no_wrap = False
    return made


def _text(value: Any) -> str:
    """The value as written in .env."""
    if value is None or value == "":
        return show.NOTHING
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
