"""`forebay completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell's completion script.

    \b
    bash, in ~/.bashrc:  eval "$(forebay completion bash)"
    zsh, in ~/.zshrc:    eval "$(forebay completion zsh)"
    fish:                forebay completion fish > ~/.config/fish/completions/forebay.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click knows the three
    click.echo(kind(ctx.find_root().command, {}, "forebay", "_FOREBAY_COMPLETE").source())
