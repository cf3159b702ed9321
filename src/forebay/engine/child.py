"""The process that runs one process step, task after task; its guard forks it, its pool talks to it.

A frame is a kind (one byte), a size (eight bytes) and a body. Bodies are pickles, but for the first one from
the pool, which is JSON: it says where this process finds its modules.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import pickle
import socket
import struct
import sys
import threading
import time
import traceback
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from forebay.engine.context import Context, Progress
from forebay.engine.pipeline import Pipeline, Step
from forebay.errors import ThrottledError, error_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = struct.Struct("!cQ")
HELLO, CALL, CANCEL = b"h", b"c", b"x"  # from the pool
READY, UNREADY, STARTED, PROGRESS = b"y", b"n", b"s", b"p"
RESULT, UNSENDABLE, ERROR, OUT_OF_MEMORY = b"r", b"u", b"e", b"m"

MAIN_ALIAS = "__forebay_main__"  # what the pool's `__main__` is called here, so that its main part does not run
_LONGEST_TEXT = 20_000
_PROGRESS_GAP = 0.01  # seconds; the pool's side throttles, this only keeps a tight loop from flooding it


@dataclass(frozen=True, slots=True)
class Hello:
    """What a new process must know to find its function."""

    path: list[str]
    app_modules: list[str]
    module: str
    package: str | None
    file: str | None
    qualname: str
    label: str  # of the step, or of the function
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Call:
    """One task: what its context knows, for a step, and the arguments."""

    context: dict[str, Any] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """What a step has raised: the exception itself where it can travel, and its text."""

    pickled: bytes | None
    error_class: str
    text: str
    trace: str
    retry_after: float | None


def knowledge(ctx: Context) -> dict[str, Any]:
    """What a context can tell in another process."""
    return {name: getattr(ctx, name) for name in Context.__slots__ if not name.startswith("_")}


class Link:
    """The child's end of the connection to its pool."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self.max_bytes = sys.maxsize

    def send(self, kind: bytes, body: bytes = b"") -> None:
        with self._sending:
            self._sock.sendall(HEAD.pack(kind, len(body)))
            self._sock.sendall(body)

    def receive(self) -> tuple[bytes, bytes] | None:
        """The next frame, or None when the pool has hung up."""
        head = self._exactly(HEAD.size)
        if head is None:
            return None
        kind, size = HEAD.unpack(head)
        body = self._exactly(size)
        return None if body is None else (kind, body)

    def has_mail(self) -> bool:
        """While a task runs, the pool only writes or hangs up to say that the task is cancelled."""
        try:
            self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def _exactly(self, size: int) -> bytes | None:
        data = bytearray(size)
        view, have = memoryview(data), 0
        while have < size:
            got = self._sock.recv_into(view[have:])
            if got == 0:
                return None
            have += got
        return bytes(data)


class ChildContext(Context):
    """The context of a task in another process: progress travels, cancellation is looked up."""

    __slots__ = ("_cancelled", "_link", "_reported")

    def __init__(self, known: dict[str, Any], link: Link) -> None:
        self._link = link
        self._cancelled = False
        self._reported = (0.0, "")
        self._host = _Pool()
        self._items = None
        for name, value in known.items():
            setattr(self, name, value)

    @property
    def cancelled(self) -> bool:
        self._cancelled = self._cancelled or self._link.has_mail()
        return self._cancelled

    @cancelled.setter
    def cancelled(self, value: bool) -> None:
        self._cancelled = value

    def forward(self, told: Progress) -> None:
        """Send progress to the pool: every new note, and fractions unless they come in a flood."""
        sent, last_note = self._reported
        now, text = time.monotonic(), told.note or ""
        if text == last_note and now - sent < _PROGRESS_GAP:
            return
        self._reported = (now, text)
        fraction, note, *sizes = told
        plain = (None if fraction is None else float(fraction), None if note is None else str(note))
        self._link.send(PROGRESS, pickle.dumps((*plain, *(None if size is None else int(size) for size in sizes))))


class _Pool:
    """What a process can do for its step: tell how far it is."""

    def note(self, ctx: Context, told: Progress) -> None:
        cast("ChildContext", ctx).forward(told)

    async def get(self, resource: Any) -> Any:
        raise RuntimeError(f"{resource!r} belongs to the worker: a process step cannot use it")

    async def call(self, ctx: Context, limited: Any, args: Any, kwargs: Any) -> Any:
        raise RuntimeError(f"{limited!r}: this is a process already, call the function itself")


def serve(sock: socket.socket) -> None:
    """Run tasks until the pool hangs up."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):  # what was printed must be out when the process is killed
        cast("Any", stream).reconfigure(line_buffering=True)
    link = Link(sock)
    hello = link.receive()
    if hello is None or (fn := _introduce(link, Hello(**json.loads(hello[1])))) is None:
        return
    while (frame := link.receive()) is not None:
        kind, body = frame
        if kind == CALL:  # else a cancellation that came after the end of its task
            link.send(STARTED)
            link.send(*_answer(fn, link, body))
            with contextlib.suppress(Exception):  # the step may have closed or replaced it
                sys.stdout.flush()
        del frame, body  # an idle process holds no input


def _introduce(link: Link, hello: Hello) -> Callable[..., Any] | None:
    link.max_bytes = hello.max_bytes
    sys.path[:] = hello.path
    try:
        fn = find_function(hello)
    except MemoryError:
        link.send(OUT_OF_MEMORY)
    except Exception as error:  # whatever a module raises when it is imported
        link.send(UNREADY, _failure(error, link.max_bytes))
    else:
        link.send(READY)
        return fn
    return None


def _answer(fn: Callable[..., Any], link: Link, body: bytes) -> tuple[bytes, bytes]:
    try:
        try:
            call = cast("Call", pickle.loads(body))  # noqa: S301 - from our own pool
        except Exception as error:  # a pickle may run anything
            return UNSENDABLE, _text(f"its input cannot be read in its process: {_described(error)}")
        context = () if call.context is None else (ChildContext(call.context, link),)
        return _result(fn(*context, *call.args, **call.kwargs), link.max_bytes)
    except MemoryError:
        return OUT_OF_MEMORY, b""
    except SystemExit:
        raise
    except BaseException as error:  # all of it goes to the pool
        return ERROR, _failure(error, link.max_bytes)


def _result(value: object, max_bytes: int) -> tuple[bytes, bytes]:
    try:
        pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except Exception as error:  # a pickle may run anything
        kind = type(value).__qualname__
        return UNSENDABLE, _text(f"its result ({kind}) cannot leave its process: {_described(error)}")
    if len(pickled) > max_bytes:
        return UNSENDABLE, _text(f"its result has {len(pickled)} bytes; at most {max_bytes} can leave its process")
    return RESULT, pickled


def _failure(error: BaseException, max_bytes: int) -> bytes:
    pickled = None
    # Others, such as KeyboardInterrupt, would stop the pool's process.
    if isinstance(error, Exception):
        with contextlib.suppress(Exception):  # a pickle may run anything
            pickled = pickle.dumps(error)
    return pickle.dumps(
        Failure(
            pickled if pickled and len(pickled) <= max_bytes // 2 else None,
            error_class(error).value,
            _described(error)[:_LONGEST_TEXT],
            "".join(traceback.format_exception(error))[-_LONGEST_TEXT:],
            error.retry_after if isinstance(error, ThrottledError) else None,
        )
    )


def find_function(hello: Hello) -> Callable[..., Any]:
    """The function behind a step, from modules that this process imports itself."""
    for name in hello.app_modules:
        importlib.import_module(name)
    module = _load(hello)
    for step in _steps(module):
        if (step.label, step.fn.__qualname__) == (hello.label, hello.qualname):
            return step.fn
    found: Any = module
    for part in hello.qualname.split("."):
        found = getattr(found, part)
    return cast("Callable[..., Any]", found.fn if isinstance(found, Step) else found)


def _steps(module: types.ModuleType) -> Iterator[Step[Any, Any]]:
    values: list[Any] = list(vars(module).values())
    for value in values:
        if isinstance(value, Step):
            yield value
        elif isinstance(value, Pipeline):
            yield from cast("Any", value).steps.values()


def _load(hello: Hello) -> types.ModuleType:
    if hello.module == "__main__":
        module = _load_file(MAIN_ALIAS, hello)
        sys.modules["__main__"] = module  # inputs name their classes so
        return module
    try:
        return importlib.import_module(hello.module)
    except ModuleNotFoundError as missing:
        # Loaded by path in the pool's process, or by a finder that this process lacks.
        if hello.file is None or not f"{hello.module}.".startswith(f"{missing.name}."):
            raise
        return _load_file(hello.module, hello)


def _load_file(name: str, hello: Hello) -> types.ModuleType:
    if hello.file is None:
        raise ImportError(f"{hello.label} must be declared in a file, not at a prompt")
    module = types.ModuleType(name)
    module.__file__, module.__package__ = hello.file, hello.package
    sys.modules[name] = module  # before it runs: models look their module up while they are made
    exec(compile(Path(hello.file).read_bytes(), hello.file, "exec"), vars(module))  # noqa: S102 - the app's own file
    return module


def _described(error: BaseException) -> str:
    name = type(error).__qualname__
    try:
        return f"{name}: {error}" if str(error) else name
    except Exception:  # its own text is broken
        return name


def _text(text: str) -> bytes:
    return text.encode(errors="replace")
