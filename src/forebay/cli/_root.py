"""The command `forebay`, which finds all others."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from forebay.cli._command_list import commands, own_commands
from forebay.cli._group import Group
from forebay.cli._help import DESCRIPTION, SHOWS_VERSION, help_text, help_width


class _Commands(Group):
    """Finds commands by the names of their files, in the order in which people meet them."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        extra.setdefault("terminal_width", help_width())
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = own_commands().get(cmd_name) or commands().get(cmd_name)
        if found is None:
            return None
        command = getattr(import_module(found.module), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 - a file without its command is our own mistake
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(help_text(ctx.command_path, formatter.width))


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415 - slow, and only needed here

        click.echo(f"forebay {metadata.version('forebay')}")
        ctx.exit()


@click.command(cls=_Commands, help=DESCRIPTION, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help=SHOWS_VERSION)
def cli() -> None:
    """`forebay` itself."""
