"""The part of tracing that needs OpenTelemetry: imported only where it is used."""

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
_QUIET_FOR = 60.0  # seconds between two complaints about the collector


class Sender:
    """Makes spans and sends them in the background."""

    def __init__(self, url: str | None, role: str) -> None:
        """`url` None: where OpenTelemetry's own variables say."""
        self._provider = TracerProvider(resource=_resource(role), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
        self.tracer = self._provider.get_tracer("forebay", metadata.version("forebay"))
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            trace.set_tracer_provider(self._provider)  # what steps call, and is instrumented, goes the same way
        self._complaints = _Complaints(logging.WARNING)
        logging.getLogger("opentelemetry").addHandler(self._complaints)
        logs.add_listener(with_ids)

    def close(self, seconds: float) -> None:
        """Send what is left; what cannot be sent in this time is given up."""
        # The SDK's own ways of flushing wait for the exporter for as long as that likes.
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
    if str(known.attributes[SERVICE_NAME]).startswith("unknown_service"):  # not said by OpenTelemetry's variables
        known = known.merge(Resource({SERVICE_NAME: "forebay"}))
    return known


class _Complaints(logging.Handler):
    """What OpenTelemetry has to say about its collector, as log lines of ours, and not too often."""

    _next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _QUIET_FOR
            log.warning("spans_not_sent", reason=record.getMessage())


def with_ids(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> None:
    """Lets a log line say in which span it was written."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)


# The way a trace travels: as a W3C traceparent.


def context_of(traceparent: str | None) -> Context:
    """The context that a job carries; an empty one, in which spans begin a new trace, for what is none."""
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
    """A span that the steps of the job come under."""
    with (tracer or trace.get_tracer("forebay")).start_as_current_span(
        f"submit {pipeline}",
        kind=SpanKind.PRODUCER,
        attributes={
            "messaging.system": "forebay",
            "messaging.operation.type": "send",
            "messaging.destination.name": pipeline,
        },
        record_exception=False,  # what is refused may be quoted in the message
        set_status_on_exception=False,
    ) as span:
        try:
            yield _TracedSubmit(span)
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(StatusCode.ERROR, type(error).__name__)
            raise
