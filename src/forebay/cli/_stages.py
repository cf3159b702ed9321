"""The stages of start and stop: one line each, with a spinner on a terminal."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from forebay.cli import _show as show

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console


class Stage:
    """A running stage: `say` shows progress, `result` is the text of its last line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.result = ""


@contextmanager
def stage(out: Console, title: str) -> Generator[Stage]:
    """Show a stage; its last line has the result and the duration."""
    began = time.monotonic()
    if out.is_terminal:
        with out.status(f"{title} …", spinner="dots") as spinner:
            now = Stage(lambda text: spinner.update(f"{title}: {text}"))
            yield now
    else:
        out.print(f"{title} …")
        now = Stage(lambda text: out.print(f"{title}: {text}"))
        yield now
    took = time.monotonic() - began
    after = f" [dim]({show.duration(took)})[/dim]" if took >= 1 else ""
    out.print(f"[green]✓[/green] {title}{f': {now.result}' if now.result else ''}{after}", soft_wrap=True)
