"""Traces with OpenTelemetry. If tracing is not configured, OpenTelemetry is not imported."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from forebay.errors import ForebayError, InvalidField

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.trace import Tracer

    from forebay.settings import Settings
    from forebay.telemetry.otel import Sender

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_FLUSH_SECONDS = 5.0  # a collector that does not respond must not delay the exit

_sender: Sender | None = None


def is_wanted(settings: Settings) -> bool:
    """Whether an endpoint is configured, by our setting or by OpenTelemetry's variables."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return False
    return bool(settings.otlp_endpoint or any(os.environ.get(name) for name in _ENDPOINTS))


def check(settings: Settings) -> None:
    """Raises: ForebayError if traces are configured but cannot be sent."""
    if not is_wanted(settings):
        return
    if settings.otlp_endpoint:
        traces_url(settings.otlp_endpoint)
    if not is_installed():
        raise ForebayError("tracing is configured, but not installed: pip install 'forebay[tracing]'")


def is_installed() -> bool:
    """Whether the extra is installed."""
    try:
        return all(find_spec(name) for name in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"))
    except ModuleNotFoundError:  # not even the parent package
        return False


def traces_url(endpoint: str) -> str:
    """The address for spans; the endpoint is that of a collector, as in OTEL_EXPORTER_OTLP_ENDPOINT.

    Raises: InvalidField, which names the setting.
    """
    try:
        parts = urlsplit(endpoint)
        is_proper = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_proper = False
    if not is_proper:
        raise InvalidField("FOREBAY_OTLP_ENDPOINT", "must be an address like http://localhost:4318")
    base = endpoint.rstrip("/")
    return base if base.endswith("/v1/traces") else f"{base}/v1/traces"


def start(settings: Settings, role: str) -> None:
    """Trace this process, if tracing is configured.

    Raises: ForebayError if it is configured but cannot be used.
    """
    global _sender  # noqa: PLW0603 - one per process, as in OpenTelemetry
    check(settings)
    if is_wanted(settings):
        from forebay.telemetry.otel import Sender  # noqa: PLC0415 - an extra, and slow to import

        _sender = Sender(traces_url(settings.otlp_endpoint) if settings.otlp_endpoint else None, role)


def stop() -> None:
    """Send pending spans, within a few seconds."""
    global _sender
    sender, _sender = _sender, None
    if sender is not None:
        sender.close(_FLUSH_SECONDS)


def tracer() -> Tracer | None:
    """The tracer of this process; None if it is not traced."""
    return None if _sender is None else _sender.tracer


# Submits also happen in programs that have set up OpenTelemetry themselves.


class Submitting:
    """A submit that is not part of a trace."""

    trace: str | None = None  # stored in the job

    def made(self, job_id: int) -> None:
        """Record that the job was created."""

    def __enter__(self) -> Submitting:
        return self

    def __exit__(self, *_: object) -> None: ...


_UNTRACED = Submitting()


def submitting(pipeline: str) -> AbstractContextManager[Submitting]:
    """A span for a submit, if there is a current span."""
    otel = sys.modules.get("opentelemetry.trace")
    if otel is None or not otel.get_current_span().get_span_context().is_valid:
        return _UNTRACED
    from forebay.telemetry.otel import traced_submit  # noqa: PLC0415

    return traced_submit(pipeline, tracer())
