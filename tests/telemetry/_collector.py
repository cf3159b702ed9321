"""A collector that accepts OTLP over HTTP according to the specification, and nothing else."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1 import trace_pb2

from tests.cli._run import until

KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}


@dataclass(frozen=True)
class Span:
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    failed: bool
    status: str
    began: int
    ended: int
    links: list[str]  # ids of spans
    resource: dict[str, Any]


@dataclass
class Collector:
    url: str = ""
    spans: list[Span] = field(default_factory=list[Span])
    wrong: list[str] = field(default_factory=list[str])

    def find(self, name: str) -> Span:
        """The single span of that name."""
        found = [span for span in self.spans if span.name == name]
        assert len(found) == 1, (name, [span.name for span in self.spans])
        return found[0]

    def under(self, parent: Span) -> dict[str, Span]:
        """The direct children of a span, by name."""
        return {span.name: span for span in self.spans if span.parent == parent.id and span.trace == parent.trace}

    def until(self, condition: Callable[[list[Span]], object]) -> None:
        until(lambda: condition(list(self.spans)), lambda: (sorted(s.name for s in self.spans), self.wrong))

    def take(self, path: str, headers: dict[str, str], body: bytes) -> str | None:
        """Accept a request; return what is wrong with it."""
        if path != "/v1/traces":
            return f"path {path}"
        if headers.get("content-type") != "application/x-protobuf":
            return f"content-type {headers.get('content-type')}"
        request = ExportTraceServiceRequest()
        request.ParseFromString(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
        for resource in request.resource_spans:
            about = {one.key: _value(one.value) for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    if len(span.trace_id) != 16 or len(span.span_id) != 8 or span.end_time_unix_nano == 0:
                        return f"span {span.name}"
                    self.spans.append(_span(span, about))
        return None


def _span(span: trace_pb2.Span, resource: dict[str, Any]) -> Span:
    return Span(
        name=span.name,
        kind=KINDS[span.kind],
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        attributes={one.key: _value(one.value) for one in span.attributes},
        failed=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
        status=span.status.message,
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        links=[link.span_id.hex() for link in span.links],
        resource=resource,
    )


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


@contextmanager
def collecting() -> Iterator[Collector]:
    """A running collector; fails at the end if it has received an invalid request."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            wrong = collector.take(self.path, {n.lower(): v for n, v in self.headers.items()}, body)
            if wrong is not None:
                collector.wrong.append(wrong)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200 if wrong is None else 400)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    with serving(Handler) as collector.url:
        yield collector
    assert not collector.wrong


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server in a separate thread; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
