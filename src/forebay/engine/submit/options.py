"""The options of a submit: owner, key, priority, time and metadata; checked before the database is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

from forebay.engine.clock import in_seconds
from forebay.engine.submit.inputs import encode_json, has_nul, is_not_unicode
from forebay.errors import InvalidField
from forebay.types import JobState, Unique

if TYPE_CHECKING:
    from forebay.types import Json

TEN_YEARS = timedelta(days=3653)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)  # some drivers convert the minimum datetime to -infinity


class JobOptions(TypedDict, total=False):
    """The options of every submit."""

    owner: str
    priority: int  # -100 … 100, higher runs first
    run_at: datetime | None
    delay: float | timedelta | None  # seconds from now, by the database's clock
    meta: Mapping[str, Json] | None


class SubmitOptions(JobOptions, total=False):
    """The options of submits with an optional key."""

    key: str | None  # if a job with this key exists, it is returned, and nothing is written
    unique: Unique | None  # how long a job keeps its key; None: for ever


class KeyBounds(NamedTuple):
    """How long a job keeps its key: a validated Unique, as arguments of a statement."""

    states: tuple[str, ...] | None = None
    period: float | None = None  # seconds

    @classmethod
    def checked(cls, unique: object) -> KeyBounds:
        """Raises: InvalidField."""
        if unique is None:
            return cls()
        if not isinstance(unique, Unique):
            raise InvalidField("unique", f"must be a Unique, not {type(unique).__name__}")
        states = unique.states
        if states is not None and (isinstance(states, str) or not states or not set(JobState).issuperset(states)):
            raise InvalidField("unique.states", f"must be some of {', '.join(JobState)}")
        return cls(
            None if states is None else tuple(sorted(map(str, states))),
            checked_seconds("unique.period", unique.period),
        )

    def as_arguments(self) -> tuple[list[str] | None, float | None]:
        """Some drivers take only lists as arrays."""
        return None if self.states is None else list(self.states), self.period


FOR_EVER = KeyBounds()


@dataclass(frozen=True, slots=True)
class CheckedOptions:
    """Validated options."""

    owner: str = "default"
    key: str | None = None
    priority: int = 0
    run_at: datetime | None = None
    delay: float | None = None
    meta: str | None = None
    unique: KeyBounds = FOR_EVER

    @classmethod
    def checked(cls, **given: Unpack[SubmitOptions]) -> CheckedOptions:
        """Raises: InvalidField for the first invalid option; TypeError for an unknown one."""
        checked = {name: _CHECKS[name](value) for name, value in given.items() if name in _CHECKS}
        if given.get("run_at") is not None and given.get("delay") is not None:
            raise InvalidField("delay", "cannot be given together with run_at")
        if given.get("unique") is not None and given.get("key") is None:
            raise InvalidField("key", "is required for unique")
        return cls(**{**given, **checked})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Coalescing:
    """Whether a submit replaces the input of a job with the same key, and how long that may postpone the job."""

    coalesce: bool = False
    max_wait: float | None = None  # seconds

    @classmethod
    def checked(cls, o: CheckedOptions, *, coalesce: bool, max_wait: float | timedelta | None = None) -> Coalescing:
        """Raises: InvalidField."""
        if coalesce and o.key is None:
            raise InvalidField("key", "is required for coalesce")
        if coalesce and o.unique != FOR_EVER:
            raise InvalidField("unique", "cannot be given together with coalesce")
        if max_wait is not None and not coalesce:
            raise InvalidField("max_wait", "is for coalesce only")
        return cls(coalesce, checked_seconds("max_wait", max_wait))


def checked_text(field: str, value: object, most: int) -> str:
    """Raises: InvalidField unless it is text of 1 to `most` characters that PostgreSQL can store."""
    if not isinstance(value, str):
        raise InvalidField(field, f"must be text, not {type(value).__name__}")
    if not 1 <= len(value) <= most:
        raise InvalidField(field, f"must have 1 to {most} characters")
    if has_nul(value):
        raise InvalidField(field, "must not contain the character U+0000")
    if not value.isascii() and is_not_unicode(value):
        raise InvalidField(field, "is not valid Unicode")
    return value


def checked_priority(value: object) -> int:
    """Raises: InvalidField unless it is an integer from -100 to 100."""
    if not isinstance(value, int) or isinstance(value, bool) or not -100 <= value <= 100:
        raise InvalidField("priority", "must be between -100 and 100")
    return value


def check_backfill(*, backfill: bool, overlap: bool) -> None:
    """Raises: InvalidField for a schedule that would skip all runs that it back-fills except the first."""
    if backfill and not overlap:
        raise InvalidField("backfill", "needs overlap=True: missed runs are submitted while the previous job is open")


def _checked_run_at(value: object) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidField("run_at", f"must be a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidField("run_at", "must have a time zone")
    try:
        moment = value.astimezone(UTC)
    except OverflowError:
        moment = datetime.max.replace(tzinfo=UTC)
    if moment > datetime.now(UTC) + TEN_YEARS:
        raise InvalidField("run_at", "must be within the next ten years")
    return max(moment, _LONG_AGO)


def checked_seconds(field: str, value: object) -> float | None:
    """Raises: InvalidField unless it is None, seconds or a timedelta, from 0 to ten years."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | timedelta):
        raise InvalidField(field, f"must be seconds or a timedelta, not {type(value).__name__}")
    seconds = in_seconds(value)
    if not 0 <= seconds <= TEN_YEARS.total_seconds():
        raise InvalidField(field, "must be between 0 and ten years")
    return seconds


def _checked_meta(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidField("meta", f"must be a mapping, not {type(value).__name__}")
    return encode_json(value, "meta")


_CHECKS: dict[str, Callable[[object], object]] = {
    "owner": lambda value: checked_text("owner", value, 200),
    "key": lambda value: None if value is None else checked_text("key", value, 500),
    "priority": checked_priority,
    "run_at": _checked_run_at,
    "delay": lambda value: checked_seconds("delay", value),
    "meta": _checked_meta,
    "unique": KeyBounds.checked,
}
