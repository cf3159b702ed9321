"""Writes docs/reference from the code: settings.md from the settings, cli.md from the commands; --check compares.

Run `make reference` after changing a setting, a command or an option.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import click
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from forebay.cli import cli
from forebay.packages import settings_classes
from forebay.settings import Settings
from scripts.generated_files import write_or_check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forebay.base_settings import OtherName, SettingsBase

TARGET = Path(__file__).parent.parent / "docs" / "reference"
MADE = "<!-- Written by scripts/reference_docs.py. -->"
KINDS: dict[Any, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret text",
}
WIDTH = 100


# Settings.


def settings_page() -> str:
    sections = [["", f"## Package {name}", "", *_table(kind)] for name, kind in settings_classes().items()]
    return "\n".join(
        [
            MADE,
            "",
            "# Settings",
            "",
            "Each setting is an environment variable, or a line in the file `.env` in the folder where forebay is",
            "started; the variable has precedence. `forebay config` shows all values and where they come from.",
            "",
            *_table(Settings),
            *(line for section in sections for line in section),
            "",
        ]
    )


def _table(kind: type[SettingsBase]) -> Iterator[str]:
    yield "| variable | default | what it may be | meaning |"
    yield "| --- | --- | --- | --- |"
    for name, field in kind.model_fields.items():
        yield _row(kind, name, field)


def _row(kind: type[SettingsBase], name: str, field: FieldInfo) -> str:
    others = [_also(variable, other) for variable, other in kind.other_names.items() if other.field == name]
    meaning = "; ".join(filter(None, (field.description, *others)))
    cells = (f"`{kind.variable(name)}`", _default(field.default), _kind(field), meaning)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _also(variable: str, other: OtherName) -> str:
    return f"also `{variable}`" if other.factor == 1 else f"also `{variable}`, times {other.factor:g}"


def _default(value: object) -> str:
    if value is None or value == "":
        return "unset" if value is None else "empty"
    text = (
        str(value).lower() if isinstance(value, bool) else f"{value:.15g}" if isinstance(value, float) else str(value)
    )
    return f"`{text}`"


def _kind(field: FieldInfo) -> str:
    kinds = [kind for kind in _alternatives(field.annotation) if kind is not NoneType]
    return ", ".join([" or ".join(_name(kind) for kind in kinds), *_bounds(field.metadata)])


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if isinstance(kind, UnionType) or get_origin(kind) is Union else (kind,)


def _name(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        bare, *metadata = get_args(kind)
        return ", ".join([_name(bare), *_bounds(metadata)])
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    return KINDS.get(kind, str(kind))


def _bounds(metadata: Iterable[Any]) -> Iterator[str]:
    for bound in metadata:
        match bound:
            case annotated_types.Ge(ge=least):
                yield f"at least {least}"
            case annotated_types.Gt(gt=below):
                yield f"more than {below}"
            case annotated_types.Le(le=most):
                yield f"at most {most}"
            case annotated_types.Lt(lt=above):
                yield f"less than {above}"
            case annotated_types.MinLen(min_length=least):
                yield f"at least {least} characters"
            case FieldInfo(metadata=inner):
                yield from _bounds(inner)
            case _:
                pass


# Commands.


def cli_page() -> str:
    root = click.Context(cli, info_name="forebay", **_context(cli))
    intro = [
        MADE,
        "",
        "# Command line",
        "",
        "Exit codes: 0 success, 1 failure, 2 invalid request, 3 no database, 4 wrong schema version, 130 interrupted.",
        "",
        "With `--json`, fields are named in snake_case, and ids are strings: see",
        "[decision 40](../decisions/0040-names-of-json-fields.md).",
        "",
    ]
    return "\n".join([*intro, *(line for section in _sections(root) for line in section)])


def _context(command: click.Command) -> dict[str, Any]:
    return {**command.context_settings, "terminal_width": WIDTH, "max_content_width": WIDTH, "color": False}


def _sections(ctx: click.Context) -> Iterator[list[str]]:
    """A command and all that is under it."""
    yield [f"## {ctx.command_path}", "", "```text", ctx.get_help(), "```", ""]
    group = ctx.command
    if isinstance(group, click.Group):
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            if command is not None and not command.hidden:
                yield from _sections(click.Context(command, info_name=name, parent=ctx, **_context(command)))


def main() -> int:
    return write_or_check({TARGET / "settings.md": settings_page(), TARGET / "cli.md": cli_page()})


if __name__ == "__main__":
    sys.exit(main())
