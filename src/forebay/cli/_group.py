"""Command groups and argument types with plain error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from typing import NoReturn


# Commands that other programs have for the same.
_SYNONYMS = {
    **dict.fromkeys(("create", "new", "save"), ("add", "submit")),
    **dict.fromkeys(("delete", "remove", "rm", "drop"), ("drop", "revoke", "disable", "cancel")),
    **dict.fromkeys(("ls", "show", "all"), ("list", "jobs")),
    **dict.fromkeys(("start", "run", "serve"), ("up",)),
    **dict.fromkeys(("status", "ps"), ("top", "jobs")),
    **dict.fromkeys(("rerun", "reprocess", "restart"), ("retry",)),
    **dict.fromkeys(("upload", "load"), ("ingest", "import")),
    **dict.fromkeys(("find", "query"), ("search",)),
    **dict.fromkeys(("stop", "kill"), ("cancel",)),
}


class Group(click.Group):
    """A group that suggests a command for a misspelt one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            from difflib import get_close_matches  # noqa: PLC0415 - slow, and only needed here

            known = self.list_commands(ctx)
            near = get_close_matches(name, known, n=2, cutoff=0.6) or [
                other for other in _SYNONYMS.get(name, ()) if other in known
            ]
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"There is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        _check(self, number, param, ctx)
        return number


class Number(click.FloatRange):
    """A number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is not a number.", param, ctx)
        _check(self, number, param, ctx)
        return number


def _check(kind: WholeNumber | Number, number: float, param: click.Parameter | None, ctx: click.Context | None) -> None:
    least, most = kind.min, kind.max
    if (least is None or number >= least) and (most is None or number <= most):
        return
    _refuse(kind, number, param, ctx)


def _refuse(
    kind: WholeNumber | Number, number: float, param: click.Parameter | None, ctx: click.Context | None
) -> NoReturn:
    bounds = f"between {kind.min:g} and {kind.max:g}" if _is_short(kind.max) else f"at least {kind.min:g}"
    kind.fail(f"{number:g} is not allowed: it must be {bounds}.", param, ctx)


def _is_short(most: float | None) -> bool:
    """Whether the message names the upper bound; that of a database column means nothing to users."""
    return most is not None and most < 2**31 - 1


JOB_ID = WholeNumber(1, 2**63 - 1)
