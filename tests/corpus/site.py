"""A site of pages good and bad, served on real sockets: what `pages.toml` lists, and what only code can do."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import ssl
import threading
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from tests.corpus import making

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Page:
    """One entry of the corpus."""

    path: str
    file: str | None = None
    body: str | None = None
    make: str | None = None
    """The function of `making` that makes the body."""
    act: str | None = None
    """The method of `Visit` that answers."""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    encode: str = "utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    expect: dict[str, Any] | None = None
    shows: dict[str, Any] | None = None

    @property
    def content(self) -> bytes:
        if self.make:
            made: bytes = getattr(making, self.make)()
            return made
        text = (HERE / "pages" / self.file).read_text("utf-8") if self.file else self.body or ""
        return text.encode(self.encode, "xmlcharrefreplace" if self.encode != "utf-8" else "strict")

    @property
    def charset(self) -> str | None:
        """What the header says."""
        return next((part.strip()[8:] for part in self.type.split(";") if part.strip().startswith("charset=")), None)


@cache
def corpus() -> dict[str, Page]:
    """All pages by path."""
    data = tomllib.loads((HERE / "pages.toml").read_text("utf-8"))
    return {path: Page(path, **entry) for path, entry in data.items()}


class Visit(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = 30

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.site.note(self.path, {name.lower(): value for name, value in self.headers.items()})
        self.server.site.keep_waiting(self.path, self.headers.get("User-Agent", ""))
        page = corpus().get(path)
        if path.startswith("/hop/"):
            self._hop(int(path.removeprefix("/hop/")))
        elif page is None:
            self._send(404, "text/html; charset=utf-8", b"<title>No such page</title><h1>404</h1>", {})
        elif page.act:
            getattr(self, f"_{page.act}")(page)
        else:
            self._send(page.status, page.type, page.content, page.headers)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so in the library
        pass

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # clients that hang up
            super().handle()

    def _send(self, status: int, media_type: str, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        if media_type:
            self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    # What only code can do.

    def _hop(self, left: int) -> None:
        self._send(302, "", b"", {"Location": f"/hop/{left - 1}" if left > 1 else "/article"})

    def _elsewhere(self, _page: Page) -> None:
        """To wherever the visitor says."""
        (target,) = parse_qs(urlsplit(self.path).query)["to"]
        self._send(302, "", b"", {"Location": target})

    def _trickle(self, page: Page) -> None:
        """A page that comes in pieces."""
        self._begin(page)
        for start in range(0, len(page.content), 200):
            self._chunk(page.content[start : start + 200])
            self.server.site.closing.wait(0.05)
        self._chunk(b"")

    def _endless(self, page: Page) -> None:
        """A page that never ends."""
        self._begin(page)
        self._chunk(page.content)
        while not self.server.site.closing.wait(0.02):
            self._chunk(b"<p>and so on and so on</p>\n" * 20)

    def _silent(self, _page: Page) -> None:
        """No answer at all."""
        self.server.site.closing.wait()
        self.close_connection = True

    def _bomb(self, page: Page) -> None:
        """A few kilobytes that become very many."""
        self._send(200, page.type, making.bomb(), {"Content-Encoding": "gzip"})

    def _zipped(self, page: Page) -> None:
        self._send(200, page.type, gzip.compress(page.content), {"Content-Encoding": "gzip"})

    def _cut(self, page: Page) -> None:
        """A body that is shorter than promised."""
        self.send_response(200)
        self.send_header("Content-Type", page.type)
        self.send_header("Content-Length", str(2 * len(page.content)))
        self.end_headers()
        self.wfile.write(page.content)
        self.close_connection = True

    def _socket(self, _page: Page) -> None:
        """A WebSocket that says one word."""
        key = self.headers.get("Sec-WebSocket-Key")
        if not key:
            self._send(426, "text/plain", b"a WebSocket is here", {"Upgrade": "websocket"})
            return
        accepted = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(accepted).decode())
        self.end_headers()
        self.wfile.write(b"\x81\x05hello")
        self.wfile.flush()
        self.connection.recv(1024)
        self.close_connection = True

    def _begin(self, page: Page) -> None:
        self.send_response(page.status)
        self.send_header("Content-Type", page.type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, site: Site, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.site, self._tls = site, tls
        self._open: set[Any] = set()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """The handshake is the visitor's own business: a broken one must not hold the others up."""
        self._open.add(request)
        try:
            if self._tls is not None:
                request.settimeout(10)
                request = self._tls.wrap_socket(request, server_side=True)
                self._open.add(request)
            super().process_request_thread(request, client_address)
        except OSError:
            pass
        finally:
            request.close()
            self._open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def hang_up(self) -> None:
        for request in list(self._open):
            with contextlib.suppress(OSError):
                request.shutdown(2)


class Hold:
    """Keeps the first visit to a path waiting for its answer, of visitors with this in their name."""

    def __init__(self, path: str, agent: str = "") -> None:
        self.path, self.agent = path, agent
        self.reached, self.released = threading.Event(), threading.Event()


@dataclass
class Site:
    """The running site."""

    port: int = 0
    tls_ports: dict[str, int] = field(default_factory=dict)
    """By what is wrong with the certificate: `good`, `expired`, `other-host`, `unknown`."""
    closing: threading.Event = field(default_factory=threading.Event)
    visits: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    _noted: threading.Condition = field(default_factory=threading.Condition)
    _holds: list[Hold] = field(default_factory=list)
    patience: ClassVar[float] = 30.0

    def note(self, path: str, headers: dict[str, str]) -> None:
        with self._noted:
            self.visits.append((path, headers))
            self._noted.notify_all()

    @contextlib.contextmanager
    def holding(self, hold: Hold) -> Iterator[Hold]:
        """Within the block that visit gets no answer, unless the hold is released."""
        self._holds.append(hold)
        try:
            yield hold
        finally:
            self._holds.remove(hold)
            hold.released.set()

    def keep_waiting(self, path: str, agent: str) -> None:
        for hold in list(self._holds):
            with self._noted:
                first = hold.path == path and hold.agent in agent and not hold.reached.is_set()
                if first:
                    hold.reached.set()
            if first:
                hold.released.wait(10 * self.patience)  # a test may need long to get the others out of the way

    def visited(self, path: str) -> bool:
        """Wait until somebody has asked for that path."""
        with self._noted:
            return self._noted.wait_for(lambda: any(each == path for each, _ in self.visits), self.patience)

    def paths(self) -> list[str]:
        with self._noted:
            return [path for path, _ in self.visits]


@contextlib.contextmanager
def serving(certificates: dict[str, ssl.SSLContext] | None = None) -> Iterator[Site]:
    """Serve the corpus, by plain HTTP and once for each certificate."""
    site = Site()
    with contextlib.ExitStack() as running:
        site.port = running.enter_context(_running(_Server(site)))
        for name, context in (certificates or {}).items():
            site.tls_ports[name] = running.enter_context(_running(_Server(site, context)))
        running.callback(site.closing.set)
        yield site


@contextlib.contextmanager
def _running(server: _Server) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.hang_up()
        server.server_close()
        thread.join()
