"""The part of tracing that needs OpenTelemetry; imported only if tracing is used."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from forebay import log as logs
from forebay.telemetry.tracing import Submitting

if TYPE_CHECKING:
    from collections.abc import Generator, MutableMapping

    from opentelemetry.trace import Span, SpanContext

log = logs.get_logger("tracing")

_W3C = TraceContextTextMapPropagator()
_LOG_INTERVAL = 60.0  # seconds between two log lines about the collector


class Sender:
    """Creates spans and sends them in the background."""

    def __init__(self, url: str | None, role: str) -> None:
        """`url` None: the address from OpenTelemetry's variables."""
        self._provider = TracerProvider(resource=_resource(role), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
        self.tracer = self._provider.get_tracer("forebay", metadata.version("forebay"))
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            # Instrumented libraries that steps use send their spans to the same place.
            trace.set_tracer_provider(self._provider)
        self._complaints = _CollectorLog(logging.WARNING)
        logging.getLogger("opentelemetry").addHandler(self._complaints)
        logs.add_listener(with_ids)

    def close(self, seconds: float) -> None:
        """Send pending spans; those that cannot be sent in this time are dropped."""
        # The SDK's flush functions wait for the exporter without a limit.
        flushing = threading.Thread(target=self._provider.shutdown, name="flush spans", daemon=True)
        flushing.start()
        flushing.join(seconds)
        if flushing.is_alive():
            log.warning("spans_given_up", seconds=seconds)
        logs.remove_listener(with_ids)
        logging.getLogger("opentelemetry").removeHandler(self._complaints)


def _resource(role: str) -> Resource:
    known = Resource.create(
        {
            SERVICE_VERSION: metadata.version("forebay"),
            SERVICE_INSTANCE_ID: f"{socket.gethostname()}:{os.getpid()}",
            "forebay.role": role,
        }
    )
    if str(known.attributes[SERVICE_NAME]).startswith("unknown_service"):  # not set by OpenTelemetry's variables
        known = known.merge(Resource({SERVICE_NAME: "forebay"}))
    return known


class _CollectorLog(logging.Handler):
    """Writes OpenTelemetry's messages about its collector to our log, at a limited rate."""

    _next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LOG_INTERVAL
            log.warning("spans_not_sent", reason=record.getMessage())


def with_ids(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> None:
    """Add the ids of the current span to a log line."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)


# A trace is propagated as a W3C traceparent.


def context_of(traceparent: str | None) -> Context:
    """The trace context of a job; an empty one, in which spans start a new trace, for an invalid value."""
    return Context() if traceparent is None else _W3C.extract({"traceparent": traceparent}, Context())


def traceparent_of(context: SpanContext) -> str:
    ids = f"{trace.format_trace_id(context.trace_id)}-{trace.format_span_id(context.span_id)}"
    return f"00-{ids}-{context.trace_flags:02x}"


class _TracedSubmit(Submitting):
    def __init__(self, span: Span) -> None:
        self._span = span
        self.trace = traceparent_of(span.get_span_context())

    def made(self, job_id: int) -> None:
        self._span.set_attribute("forebay.job.id", job_id)


@contextmanager
def traced_submit(pipeline: str, tracer: Tracer | None) -> Generator[Submitting]:
    """A span that is the parent of the spans of the job's steps."""
    with (tracer or trace.get_tracer("forebay")).start_as_current_span(
        f"submit {pipeline}",
        kind=SpanKind.PRODUCER,
        attributes={
            "messaging.system": "forebay",
            "messaging.operation.type": "send",
            "messaging.destination.name": pipeline,
        },
        record_exception=False,  # the message may quote rejected values
        set_status_on_exception=False,
    ) as span:
        try:
            yield _TracedSubmit(span)
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(StatusCode.ERROR, type(error).__name__)
            raise
