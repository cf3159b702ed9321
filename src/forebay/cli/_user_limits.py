"""`forebay users weight` and `limits`: also for owners without an account, who submit by SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from forebay.cli import _show as show
from forebay.cli._accounts import connected_accounts
from forebay.cli._common import actor, json_option, load_settings, run
from forebay.cli._group import WholeNumber
from forebay.errors import NotFoundError
from forebay.identity import owners

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.identity.owners import QuotaUsage
    from forebay.settings import Settings

Limit = int | Literal["default"]

# Names on the command line → names in the database.
_LIMITS = {
    "open_jobs": "max_open_jobs",
    "open_items": "max_open_items",
    "submits_per_minute": "submits_per_minute",
}


@click.command()
@click.argument("name")
@click.argument("number", type=float, metavar="N")
@json_option
def weight(name: str, number: float, as_json: bool) -> None:
    """Set a user's share of the workers.

    A user with twice the weight gets twice the tasks.
    """
    changed = run(_weigh(load_settings(), name, number))
    text = f"{name} has weight {number:g} {'now' if changed else 'already'}"
    show.answer({"name": name, "weight": number, "changed": changed}, text, as_json=as_json)


async def _weigh(settings: Settings, name: str, number: float) -> bool:
    async with connected_accounts(settings) as conn:
        await _owner_id(conn, name)
        return await owners.set_weight(conn, name, number, actor())


async def _owner_id(conn: Connection, name: str) -> int:
    found = await owners.find(conn, name)
    if found is None:
        raise NotFoundError(
            "name", f"{name!r} is neither a user nor an owner of jobs: `forebay users list` shows the users"
        )
    return found


class _LimitType(click.ParamType[Limit]):
    name = "limit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Limit:
        return "default" if value == "default" else WholeNumber(0, 2**31 - 1).convert(value, param, ctx)


@click.command()
@click.argument("name")
@click.option("--open-jobs", type=_LimitType(), metavar="N|default", help="Maximum number of open jobs.")
@click.option("--open-items", type=_LimitType(), metavar="N|default", help="Maximum number of open items.")
@click.option(
    "--submits-per-minute", type=_LimitType(), metavar="N|default", help="Maximum number of submits per minute."
)
@json_option
def limits(name: str, as_json: bool, **given: Limit | None) -> None:
    """Show or set a user's limits.

    `default` resets a limit to FOREBAY_MAX_OPEN_JOBS, FOREBAY_MAX_OPEN_ITEMS or FOREBAY_SUBMITS_PER_MINUTE.
    """
    settings = load_settings()
    wanted = {_LIMITS[key]: None if value == "default" else value for key, value in given.items() if value is not None}
    usage, changed = run(_limit(settings, name, wanted))
    rows = [_limit_row(key, usage, settings) for key in _LIMITS]
    text = "\n".join(f"{row['limit'].replace('_', ' '):<20}{_limit_text(row)}" for row in rows)
    by_name = {row.pop("limit"): row for row in rows}
    show.answer({"name": name, "changed": changed, "limits": by_name}, text, as_json=as_json)


async def _limit(settings: Settings, name: str, wanted: dict[str, int | None]) -> tuple[QuotaUsage, bool]:
    async with connected_accounts(settings) as conn:
        owner_id = await _owner_id(conn, name)
        changed = await owners.set_limits(conn, owner_id, wanted, actor()) if wanted else False
        return await owners.usage(conn, owner_id), changed


def _limit_row(key: str, usage: QuotaUsage, settings: Settings) -> dict[str, Any]:
    own: int | None = getattr(usage, _LIMITS[key])
    most: int = getattr(settings, _LIMITS[key]) if own is None else own
    now = {"open_jobs": usage.open_jobs, "open_items": usage.open_items}.get(key)
    return {"limit": key, "most": most, "is_default": own is None, "now": now}


def _limit_text(row: dict[str, Any]) -> str:
    used = "" if row["now"] is None else f"{show.number(row['now'])} of "
    return f"{used}{show.number(row['most'])}{' (default)' if row['is_default'] else ''}"
