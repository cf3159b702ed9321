"""The format of times, sizes, counts and tables in all commands.

rich is imported only where something is drawn: JSON output does not need it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text

    from forebay.engine.db.overview import DeadLetterRow, JobRow
    from forebay.types import JobSummary

NOTHING = "–"  # noqa: RUF001 - shown in tables for a missing value

_WIDEST = 10_000  # width that no table has

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_STATE_STYLES = {
    "QUEUED": "default",
    "RUNNING": "cyan",
    "PAUSED": "yellow",
    "DONE": "green",
    "FAILED": "red",
    "CANCELLED": "yellow",
}


def duration(seconds: float | None) -> str:
    """A duration in its two largest units: 3 min 20 s."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        return f"{max(0, seconds) * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rest = round(seconds)
    parts: list[str] = []
    for length, unit in _UNITS:
        amount, rest = divmod(rest, length)
        if amount or parts:
            parts.append(f"{amount} {unit}" if amount else "")
    return " ".join(part for part in parts[:2] if part)


def between(start: datetime | None, end: datetime | None) -> str:
    """The duration between two times."""
    return NOTHING if start is None or end is None else duration((end - start).total_seconds())


def ago(then: datetime, now: datetime) -> str:
    seconds = (now - then).total_seconds()
    return "now" if seconds < 1 else f"{duration(max(10, seconds)) if seconds >= 10 else f'{seconds:.0f} s'} ago"


def milliseconds(value: float | None) -> str:
    return NOTHING if value is None else "<1 ms" if value < 0.95 else duration(value / 1000)


def size(count: float) -> str:
    """Bytes in a suitable unit: 1.4 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 9.95 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def number(value: float | None) -> str:
    """A count in groups of three: 1,234,567."""
    return NOTHING if value is None else f"{value:,.0f}"


def rate(per_second: float | None, what: str) -> str:
    if per_second is None:
        return f"{NOTHING} {what}/s"
    return f"{per_second:.1f} {what}/s" if 0 < per_second < 9.95 else f"{number(per_second)} {what}/s"


def moment(at: datetime | None) -> str:
    """A local time, with the date unless it is today."""
    if at is None:
        return NOTHING
    local = at.astimezone()
    today = datetime.now().astimezone().date()
    return local.strftime("%H:%M:%S" if local.date() == today else "%Y-%m-%d %H:%M:%S")


def plural(count: int, noun: str) -> str:
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def counts(job: JobRow | JobSummary) -> str:
    """The numbers of a job's items by status; zeros are left out, except for done."""
    left = job.total - job.done - job.skipped - job.not_found - job.error
    rest = (("not found", job.not_found), ("skipped", job.skipped), ("failed", job.error), ("open", left))
    return ", ".join([f"{number(job.done)} done", *(f"{number(count)} {word}" for word, count in rest if count)])


def state(name: str) -> Text:
    from rich.text import Text  # noqa: PLC0415 - see above

    return Text(name, style=_STATE_STYLES.get(name, "default"))


def faint_zero(value: int, style: str = "default") -> Text:
    """A count; zero is dimmed."""
    from rich.text import Text  # noqa: PLC0415 - see above

    return Text(number(value), style=style if value else "dim")


def table(*columns: str, title: str | None = None, expand: bool = False) -> Table:
    """An empty table; a column whose name begins with > is right-aligned, one with * takes the remaining width."""
    from rich import box  # noqa: PLC0415 - see above
    from rich.table import Table  # noqa: PLC0415

    made = Table(
        box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", expand=expand, pad_edge=False
    )
    made.show_edge = False
    for column in columns:
        kind, name = (column[0], column[1:]) if column[:1] in (">", "*") else ("", column)
        made.add_column(
            name,
            justify="right" if kind == ">" else "left",
            min_width=min(8, max(6, len(name))) if kind == ">" else None,  # a live table must not change its widths
            ratio=1 if kind == "*" else None,
            no_wrap=True,
            overflow="ellipsis",
            header_style="dim",
        )
    return made


def fill(made: Table, rows: Iterable[Iterable[RenderableType]]) -> Table:
    for row in rows:
        made.add_row(*row)
    return made


def console() -> Console:
    """Standard output, as wide as the terminal; files and pipes get lines long enough for all columns."""
    from rich.console import Console  # noqa: PLC0415 - see above

    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=140)


def print_table(made: Table, spare: Iterable[str] = (), shortest: int = 8) -> None:
    """Print a table in the width of the terminal.

    If it is too wide, columns with * are shortened. Before they would become shorter than `shortest`, the columns named
    in `spare` are left out one after the other. rich alone shortens all columns alike, until ids and states are gone.
    """
    out = console()
    for name in spare:
        flexible = [_natural_width(column) for column in made.columns if column.ratio is not None]
        if _excess(made, out) > sum(max(0, width - shortest) for width in flexible):
            made.columns = [column for column in made.columns if column.header != name]
    _shorten(made, _excess(made, out), shortest)
    out.print(made)


def _excess(made: Table, out: Console) -> int:
    """The number of columns of the terminal by which a table is too wide."""
    return out.measure(made, options=out.options.update_width(_WIDEST)).maximum - out.width


def _shorten(made: Table, excess: int, shortest: int) -> None:
    """Shorten the longest of the flexible columns first."""
    widths = {at: _natural_width(column) for at, column in enumerate(made.columns) if column.ratio is not None}
    most = max(widths.values(), default=0)
    while sum(max(0, width - most) for width in widths.values()) < excess and most > shortest:
        most -= 1
    for at in widths:
        made.columns[at].max_width = most


def _natural_width(column: Column) -> int:
    return max(map(_width, (column.header, *column.cells)))


def _width(cell: RenderableType) -> int:
    from rich.text import Text  # noqa: PLC0415 - see above

    return (cell if isinstance(cell, Text) else Text(str(cell))).cell_len


def answer(value: Any, text: str, *, as_json: bool) -> None:
    """Print a result as JSON or as text."""
    click.echo(dump(value) if as_json else text)


# JSON.


def dump(value: Any) -> str:
    return json.dumps(value, default=_plain)


def job_json(job: JobRow) -> dict[str, Any]:
    """A job as JSON; ids are strings."""
    return {**asdict(job), "id": str(job.id), "ended": job.ended}


def letter_json(letter: DeadLetterRow) -> dict[str, Any]:
    given = asdict(letter)
    kind = given.pop("error_class")
    return {**given, "job_id": str(letter.job_id), "class": kind}


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
