"""Sends logged errors to Sentry, without inputs, requests, variables and passwords."""

from __future__ import annotations

import sys
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from forebay import log as logs
from forebay.errors import ForebayError, InvalidField, strip_values

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from sentry_sdk.client import Client
    from sentry_sdk.types import Event, Hint

    from forebay.settings import Settings

_LEVELS = {"error": "error", "critical": "fatal"}
_NOT_SENT = frozenset(("event", "exc_info", "level", "timestamp"))  # separate fields in Sentry
_QUOTING = ("asyncpg", "json", "psycopg", "pydantic", "sqlalchemy")  # their messages quote rejected values
_HIDDEN = "[hidden]"
_ITEM_FAILED = "item_failed"
_FLUSH_SECONDS = 3.0

_reporter: _Reporter | None = None


def start(settings: Settings, role: str) -> None:
    """Report the errors of this process, if Sentry is configured.

    Raises: ForebayError if it is configured but cannot be used.
    """
    global _reporter  # noqa: PLW0603 - one per process
    dsn = settings.sentry_dsn.get_secret_value() if settings.sentry_dsn else ""
    if dsn:
        _reporter = _Reporter(_client(dsn, _passwords(settings)), role)
        logs.add_listener(_reporter.on_event)


def stop() -> None:
    """Send pending reports, within a few seconds."""
    global _reporter
    reporter, _reporter = _reporter, None
    if reporter is not None:
        logs.remove_listener(reporter.on_event)
        reporter.close()


def report(error: BaseException) -> None:
    """Report the error that ended this process."""
    if _reporter is not None:
        _reporter.send(error, {"event": "process_failed", "level": "critical"})


def is_installed() -> bool:
    """Whether the extra is installed."""
    return find_spec("sentry_sdk") is not None


def _client(dsn: str, passwords: Sequence[str]) -> Client:
    """A separate client, independent of the one that the steps' modules may have set up."""
    if not is_installed():
        raise ForebayError("Sentry is configured, but not installed: pip install 'forebay[sentry]'")
    from sentry_sdk.client import Client  # noqa: PLC0415 - an extra
    from sentry_sdk.utils import BadDsn, Dsn  # noqa: PLC0415

    try:
        Dsn(dsn)
    except (BadDsn, ValueError) as error:
        raise InvalidField("FOREBAY_SENTRY_DSN", "must be an address like https://key@sentry.example.com/1") from error
    return Client(
        dsn=dsn,
        release=f"forebay@{metadata.version('forebay')}",
        default_integrations=False,  # they would capture requests, loggers and drivers
        auto_enabling_integrations=False,
        auto_session_tracking=False,
        spotlight=False,  # its variable would enable the sending of private data
        max_request_body_size="never",
        include_local_variables=False,
        max_breadcrumbs=0,
        before_send=lambda event, _: cast("Event", without_secrets(cast("dict[str, Any]", event), passwords)),
    )


class _Reporter:
    def __init__(self, client: Client, role: str) -> None:
        self._client = client
        self._role = role

    def on_event(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> None:
        """Handle a log event."""
        if event.get("level") not in _LEVELS:
            return
        error = _exception(event.get("exc_info"))
        # A request that failed because the database was unavailable has been answered, and the workers report the
        # outage.
        if error is not None or event.get("part") != "api":
            self.send(error, event)

    def send(self, error: BaseException | None, event: Mapping[str, Any]) -> None:
        report, hint = self._described(error)
        report.update(
            level=_LEVELS[event["level"]],
            logger=f"forebay.{event.get('part', self._role)}",
            message=event["event"],
            tags={"role": self._role},
            extra={name: _text(value) for name, value in event.items() if name not in _NOT_SENT},
        )
        if event["event"] == _ITEM_FAILED:  # failures of the same kind are one issue, even if the reasons differ
            report["fingerprint"] = [_ITEM_FAILED, str(event.get("step")), str(event.get("error_class"))]
            report["tags"] |= {"step": event.get("step"), "error_class": event.get("error_class")}
        self._client.capture_event(cast("Event", report), hint)

    def _described(self, error: BaseException | None) -> tuple[dict[str, Any], Hint | None]:
        if error is None:
            return {}, None
        from sentry_sdk.utils import event_from_exception  # noqa: PLC0415

        report, hint = event_from_exception(error, client_options=self._client.options)
        return cast("dict[str, Any]", report), hint

    def close(self) -> None:
        self._client.close(timeout=_FLUSH_SECONDS)


def _exception(exc_info: Any) -> BaseException | None:
    """The exception of a log line, in any of the supported forms."""
    if isinstance(exc_info, BaseException):
        return exc_info
    if isinstance(exc_info, tuple):
        return cast("tuple[Any, BaseException | None, Any]", exc_info)[1]
    return sys.exc_info()[1] if exc_info else None


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else strip_values(str(value))


def _passwords(settings: Settings) -> list[str]:
    """Passwords that must not be sent if an error quotes a database address; the longest first."""
    try:
        password = urlsplit(settings.dsn or "").password
    except ValueError:
        password = None
    found = {text for text in (settings.dsn, password, unquote(password or "")) if text}
    return sorted(found, key=len, reverse=True)


def without_secrets(event: dict[str, Any], passwords: Sequence[str]) -> dict[str, Any]:
    """The event without confidential data."""
    for name in ("request", "user", "breadcrumbs"):
        event.pop(name, None)
    for value in event.get("exception", {}).get("values", ()):
        is_quoting = str(value.get("module") or "").startswith(_QUOTING)
        value["value"] = _HIDDEN if is_quoting else strip_values(str(value.get("value") or ""))
        trace: dict[str, Any] = value.get("stacktrace") or {}
        for frame in trace.get("frames", ()):
            frame.pop("vars", None)
    return cast("dict[str, Any]", _hide(event, passwords))


def _hide(value: Any, passwords: Sequence[str]) -> Any:
    if isinstance(value, str):
        for password in passwords:
            value = value.replace(password, _HIDDEN)
        return value
    if isinstance(value, dict):
        return {name: _hide(part, passwords) for name, part in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_hide(part, passwords) for part in value]  # pyright: ignore[reportUnknownVariableType]
    return value
