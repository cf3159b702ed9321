"""Structured logs: past-tense events with bound ids, formatted for a terminal, and as JSON lines elsewhere.

Commands call `configure`. In a program that does not, and that has not configured structlog, events go to the loggers
`forebay.*` of the standard library: nothing is printed unless the program's logging configuration says so.

structlog is imported at the first event, because it imports rich, and most commands and submitting programs log
nothing.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, cast

if TYPE_CHECKING:
    import structlog

_level = logging.INFO
_APART = frozenset(("event", "exc_info", "level", "part"))  # passed to the standard library in other ways
Listener: TypeAlias = Callable[[Any, str, MutableMapping[str, Any]], None]

_listeners: list[Listener] = []

_request: ContextVar[Mapping[str, str] | None] = ContextVar("request", default=None)

_library = logging.getLogger("forebay")
_library.addHandler(logging.NullHandler())  # otherwise Python prints warnings in a program without logging


# The arguments of `configure` until the next event applies them: whether lines are JSON, and the stream. None: already
# applied.
_unapplied: tuple[bool, TextIO] | None = None


def configure(level: str = "info", *, json_lines: bool | None = None) -> None:
    """Configure logging, once per process; JSON lines unless standard error is a terminal."""
    global _level, _unapplied  # noqa: PLW0603 - one log per process
    _level = logging.getLevelNamesMapping()[level.upper()]
    # The current standard error: a live view may have replaced it by the first event.
    _unapplied = (not sys.stderr.isatty() if json_lines is None else json_lines, sys.stderr)


def _apply(as_json: bool, stream: TextIO) -> None:
    import structlog  # noqa: PLC0415 - see above

    global _unapplied  # noqa: PLW0603
    renderer: Any = structlog.processors.JSONRenderer(default=str) if as_json else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _add_request,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _tell_listeners,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_level),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    _unapplied = None  # last, because another thread may log meanwhile and must apply the same


def _is_configured() -> bool:
    """Whether `configure` was called, or the program has configured structlog, which it has then imported."""
    return _unapplied is not None or ("structlog" in sys.modules and sys.modules["structlog"].is_configured())


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose events contain the name of this part."""
    return cast("structlog.stdlib.BoundLogger", _Logger(name))


def use_level(level: str, *, explicit: bool) -> None:
    """Use the level of an embedded worker's settings. A level that the program has set for the logger `forebay` is
    kept, unless the settings give one explicitly."""
    global _level  # noqa: PLW0603
    if _is_configured():
        return
    if explicit or _library.level == logging.NOTSET:
        _library.setLevel(level.upper())
    _level = _library.level


class _Logger:
    """Chooses the target of each event when it is logged: loggers are created at import, before the configuration."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chosen(), name)

    def _chosen(self) -> Any:
        import structlog  # noqa: PLC0415 - see above

        if (wanted := _unapplied) is not None:
            _apply(*wanted)
        if structlog.is_configured():
            return structlog.get_logger(part=self._part)
        return structlog.wrap_logger(
            logging.getLogger(f"forebay.{self._part}"),
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.contextvars.merge_contextvars,
                _add_request,
                structlog.processors.add_log_level,
                _tell_listeners,
                _for_library,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
            part=self._part,
        )


def _for_library(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> tuple[tuple[str], dict[str, Any]]:
    """The arguments for a logger of the standard library: the event and its fields, as one line."""
    name, exc_info = event["event"], event.get("exc_info")
    about = " ".join(f"{key}={value!r}" for key, value in event.items() if key not in _APART)
    # A percent sign in a value is not a format, because there are no further arguments.
    return (f"{name} {about}".rstrip(),), {"exc_info": exc_info} if exc_info else {}


@contextmanager
def in_request(request_id: str, **about: str) -> Generator[None]:
    """Events that are logged inside have this id, as `request`, and what else is given about the request."""
    token = _request.set({"request": request_id, **about})
    try:
        yield
    finally:
        _request.reset(token)


def request_id() -> str | None:
    """The id of the request that is served here; None outside of requests."""
    known = _request.get()
    return None if known is None else known["request"]


def _add_request(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in (_request.get() or {}).items():
        event.setdefault(name, value)
    return event


def is_debug_enabled() -> bool:
    """Whether debug events are written. Check this before composing many of them."""
    return _level <= logging.DEBUG


def add_listener(listener: Listener) -> None:
    """Pass every event to a listener before it is written; the listener may add fields."""
    if listener not in _listeners:
        _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    if listener in _listeners:
        _listeners.remove(listener)


def _tell_listeners(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for listener in tuple(_listeners):
        listener(logger, method, event)
    return event
