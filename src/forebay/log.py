"""Structured logs: past-tense events with bound ids, for people on a terminal and as JSON lines elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, TypeAlias

import structlog

_level = logging.INFO
Listener: TypeAlias = Callable[[Any, str, MutableMapping[str, Any]], None]

_listeners: list[Listener] = []


def configure(level: str = "info", *, json_lines: bool | None = None) -> None:
    """Set logging up once a process; JSON lines unless standard error is a terminal."""
    global _level  # noqa: PLW0603 - there is one set of logs a process
    _level = logging.getLevelNamesMapping()[level.upper()]
    as_json = not sys.stderr.isatty() if json_lines is None else json_lines
    renderer: Any = structlog.processors.JSONRenderer(default=str) if as_json else structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _tell_listeners,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger whose events carry the name of the part that speaks."""
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(part=name)
    return logger


def tells_details() -> bool:
    """Whether debug events are heard: where there are very many of them, they are not even put together otherwise."""
    return _level <= logging.DEBUG


def add_listener(listener: Listener) -> None:
    """Let something see every event before it is written; it may add to it."""
    if listener not in _listeners:
        _listeners.append(listener)


def remove_listener(listener: Listener) -> None:
    if listener in _listeners:
        _listeners.remove(listener)


def _tell_listeners(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for listener in tuple(_listeners):
        listener(logger, method, event)
    return event
