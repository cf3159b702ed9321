"""The process that runs one function, call by call; its guard forks it, and its pool sends the calls.

It imports what the function needs and little else. An adapter module turns functions into steps.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import json
import os
import pickle
import shutil
import socket
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from forebay.runner import codec, failures, progress
from forebay.runner.frames import (
    CALL,
    ERROR,
    FILES,
    MAIN_ALIAS,
    OUT_OF_MEMORY,
    OVERRUN,
    READY,
    RESULT,
    STARTED,
    UNREADY,
    UNSENDABLE,
    Channel,
    Hello,
)
from forebay.runner.spec import ISOLATED, SCRATCH

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Call:
    """One task: the fields of its context, for a step, and the arguments."""

    context: dict[str, Any] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


_FULL = 1 << 16  # bytes
_OPEN_FILES = "/proc/self/fd"


class Adapter(Protocol):
    """The interface of an adapter module for steps: finds their functions, and creates their first argument."""

    def find_function(self, hello: Hello, module: types.ModuleType) -> Callable[..., Any]: ...
    def context(self, known: dict[str, Any], link: Channel) -> Any: ...


def work(link: Channel, files: socket.socket, hello: Hello) -> None:
    """Run calls until the pool closes the connection."""
    child = _FunctionServer(link, files, hello)
    if child.load_function():
        child.work()


class _FunctionServer:
    def __init__(self, link: Channel, files: socket.socket, hello: Hello) -> None:
        self._link, self._files, self._hello = link, files, hello
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._descriptors: list[int] = []
        self._own_threads: list[threading.Thread] = []

    def load_function(self) -> bool:
        """Find the function and report the result; return whether it was found."""
        hello, link = self._hello, self._link
        try:
            self._adapter = cast("Adapter", importlib.import_module(hello.adapter)) if hello.adapter else None
            self._fn = self._found()
        except MemoryError:
            link.send(OUT_OF_MEMORY)
            return False
        except Exception as error:  # an import can raise anything
            link.send(UNREADY, failures.dump(error))
            return False
        progress.connect(link)
        self._own_threads = threading.enumerate()
        link.send(READY)
        return True

    def _found(self) -> Callable[..., Any]:
        for name in self._hello.app_modules:
            importlib.import_module(name)
        module = _load(self._hello)
        if self._adapter is not None:
            return self._adapter.find_function(self._hello, module)
        found: Any = module
        for part in self._hello.qualname.split("."):
            found = getattr(found, part)
        return cast("Callable[..., Any]", found)

    def work(self) -> None:
        while (frame := self._link.receive()) is not None:
            kind, body = frame
            if kind == FILES:
                self._take_files(json.loads(body))
            elif kind == CALL:  # otherwise a cancellation that came after the end of its task
                self._link.send(STARTED)
                self._link.send(*self._answer(body))
                self._clean_up()
                if not self._hello.keeps_threads and self._has_left_threads():
                    os._exit(0)  # the pool starts another process; do not wait for threads that may never end
            del frame, body  # an idle process keeps no input in memory

    def _has_left_threads(self) -> bool:
        """Python threads only: native threads of libraries, such as OpenMP's, wait for the next call."""
        return any(thread not in self._own_threads for thread in threading.enumerate())

    def _take_files(self, fields: dict[str, Any]) -> None:
        self._inputs, outputs = fields["inputs"], fields["outputs"]
        if isinstance(outputs, int):  # passed as open files, because no other files are visible here
            _, self._descriptors, _, _ = socket.recv_fds(self._files, 1, outputs)
            outputs = [_name_of(fd) for fd in self._descriptors]
        self._outputs = outputs

    def _copy_outputs(self) -> None:
        """Copy files from scratch space, which was used because open files have no paths here, to their targets."""
        for name, fd in zip(self._outputs, self._descriptors, strict=False):
            if not name.startswith(_OPEN_FILES) and Path(name).exists():
                with Path(name).open("rb") as made, open(fd, "wb", closefd=False) as given:
                    shutil.copyfileobj(made, given)

    def _clean_up(self) -> None:
        for fd in self._descriptors:
            os.close(fd)
        self._inputs, self._outputs, self._descriptors = [], [], []
        with contextlib.suppress(Exception):  # the function may have closed or replaced the stream
            sys.stdout.flush()
        _empty_scratch()

    def _answer(self, body: bytes) -> tuple[bytes, bytes]:
        try:
            try:
                call = cast("Call", _CallUnpickler(body, self._inputs, self._outputs).load())
            except Exception as error:  # unpickling can run arbitrary code
                return UNSENDABLE, _text(f"its input cannot be read in its process: {failures.described(error)}")
            first = () if self._adapter is None else (self._adapter.context(call.context or {}, self._link),)
            value = self._fn(*first, *call.args, **call.kwargs)
            self._copy_outputs()
            return _result(value, self._link.max_bytes)
        except MemoryError:
            return OUT_OF_MEMORY, b""
        except SystemExit:
            raise
        except BaseException as error:  # every error is reported to the pool
            return _failed(error, with_writes=self._adapter is not None)


def _name_of(fd: int) -> str:
    """A path that writes to an open file; without /proc, a path in scratch space that is copied afterwards."""
    if Path(_OPEN_FILES).exists():
        return f"{_OPEN_FILES}/{fd}"
    return str(Path(os.environ.get("TMPDIR") or SCRATCH, f"forebay-output-{fd}"))


class _CallUnpickler(pickle.Unpickler):
    """Deserializes a call; files are replaced by the paths under which this process sees them."""

    def __init__(self, body: bytes, inputs: list[str], outputs: list[str]) -> None:
        super().__init__(io.BytesIO(body))
        self._files = {"input": inputs, "output": outputs}

    def persistent_load(self, pid: Any) -> Path:
        kind, number = cast("tuple[str, int]", pid)
        return Path(self._files[kind][number])


def _failed(error: BaseException, *, with_writes: bool) -> tuple[bytes, bytes]:
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return OVERRUN, b"wrote a file that is larger than it may be"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and _scratch_is_full():
        return OVERRUN, b"filled its scratch space"
    return ERROR, failures.dump(error, with_writes=with_writes)


def _scratch() -> Path | None:
    """The file system of the sandbox for temporary files, if there is one."""
    folder = Path(os.environ.get("TMPDIR") or "/")
    return folder if str(folder) == SCRATCH and folder.is_mount() and ISOLATED in os.environ else None


def _scratch_is_full() -> bool:
    scratch = _scratch()
    return scratch is not None and shutil.disk_usage(scratch).free < _FULL


def _empty_scratch() -> None:
    """Delete the temporary files of the previous call."""
    if (scratch := _scratch()) is not None:
        delete_own(str(scratch), scratch.stat().st_dev)


def delete_own(folder: str, device: int) -> None:
    """Delete what is in a folder and on this device. What is mounted there, such as the application if it is installed
    in the scratch folder of this machine, is not searched: it may have thousands of files.

    Raises: OSError if a folder cannot be read; the process must then not be used again.
    """
    folders = [folder]
    for each in folders:  # grows meanwhile
        with os.scandir(each) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    with contextlib.suppress(OSError):  # a mounted module of the application
                        os.unlink(entry.path)  # noqa: PTH108 - after each call: no objects
                elif entry.stat(follow_symlinks=False).st_dev == device:
                    folders.append(entry.path)
    for each in reversed(folders[1:]):
        with contextlib.suppress(OSError):  # something is mounted in it
            os.rmdir(each)  # noqa: PTH106 - the same


def _result(value: object, max_bytes: int) -> tuple[bytes, bytes]:
    try:
        encoded = codec.encode(value)
    except MemoryError:
        raise
    except Exception as error:  # properties of objects can raise anything
        kind = type(value).__qualname__
        return UNSENDABLE, _text(f"its result ({kind}) cannot be sent: {error}")
    if len(encoded) > max_bytes:
        return UNSENDABLE, _text(f"its result has {len(encoded)} bytes; at most {max_bytes} can be sent")
    return RESULT, encoded


def _load(hello: Hello) -> types.ModuleType:
    if hello.module == "__main__":
        module = _load_file(MAIN_ALIAS, hello)
        sys.modules["__main__"] = module  # pickled inputs refer to their classes by this name
        return module
    try:
        return importlib.import_module(hello.module)
    except ModuleNotFoundError as missing:
        # Loaded by path in the pool's process, or by an import finder that this process does not have.
        if hello.file is None or not f"{hello.module}.".startswith(f"{missing.name}."):
            raise
        return _load_file(hello.module, hello)


def _load_file(name: str, hello: Hello) -> types.ModuleType:
    if hello.file is None:
        raise ImportError(f"{hello.label} must be declared in a file, not at a prompt")
    module = types.ModuleType(name)
    module.__file__, module.__package__ = hello.file, hello.package
    sys.modules[name] = module  # before the module runs: models look it up while they are created
    exec(compile(Path(hello.file).read_bytes(), hello.file, "exec"), vars(module))  # noqa: S102 - the app's file
    return module


def _text(text: str) -> bytes:
    return text.encode(errors="replace")
