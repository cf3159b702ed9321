"""One guarded process, as its owner sees it: start it, read its output, kill it with all its descendants."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.log import get_logger
from forebay.runner.python import GUARD, python_command
from forebay.runner.spec import INPUTS, ISOLATED, OUTPUT, SCRATCH, ResourceLimits, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from forebay.runner.spec import Sandbox

log = get_logger("runner")

_TAIL = 8192  # bytes of output to keep
_LONGEST_LINE = 4096
_KILLED_WITHIN = 5.0  # seconds in which a killed process must end
HOME, INPUTS_AT, OUTPUT_AT = "@HOME@", "@INPUTS@", "@OUTPUT@"  # placeholders for these folders in arguments
_LINES_AT_ONCE = 200  # maximum lines reported per read
_PASSED_ON = ("LANG", "LC_ALL", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "FONTCONFIG_PATH")


@dataclass(frozen=True)
class GuardedCommand:
    """What a guarded process runs: a module that serves on sockets, or a program with its arguments."""

    name: str  # for logs
    limits: ResourceLimits
    module: str = ""
    argv: tuple[str, ...] = ()
    sockets: int = 0  # number of connections, passed as its descriptors from 3 on
    doubled: bool = False  # pass each of them twice: Chromium reads from 3 and writes to 4
    sandbox: Sandbox | None = None
    environment: Mapping[str, str] | None = None  # added to a clean one; None without a sandbox: ours
    watched: str = ""
    watched_mb: int = 0
    printed_mb: int | None = None
    python: list[str] = field(default_factory=python_command)


class GuardedProcess:
    """A process with its guard; belongs to the event loop on whose thread it is started."""

    def __init__(self, command: GuardedCommand, on_line: Callable[[str], None] | None = None) -> None:
        self.command = command
        self.ended = asyncio.Event()
        self.end_reason = ""  # the guard's last message
        self.sockets: list[socket.socket] = []
        self.folder: Path | None = None
        self._on_line = on_line
        self._line = b""
        self._output = b""
        self._watching: asyncio.Task[None] | None = None
        self._printed, self._flooded = 0, ""

    def start(self) -> None:
        """Start the process, and watch its output and its end.

        Raises: OSError if that fails; nothing is left behind.
        """
        self.prepare()
        try:
            self._spawn()
        except BaseException:
            self._remove_folder()
            raise
        loop = asyncio.get_running_loop()
        loop.add_reader(self._output_fd, self._read_output)
        self._watching = loop.create_task(self._watch())

    def prepare(self) -> None:
        """Create its folders, so that files can be placed in `inbox` before the start; `kill` removes them."""
        if self.folder is not None:
            return
        self.folder = folder = Path(tempfile.mkdtemp(prefix="forebay-run-"))
        for name, mode in (("", 0o711), ("root", 0o755), ("inputs", 0o755), ("home", 0o1777)):
            (folder / name).mkdir(exist_ok=True)
            (folder / name).chmod(mode)

    def _remove_folder(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The process id of the guard, which is our child."""
        return self._guard.pid

    @property
    def uid(self) -> int | None:
        """The user id of the process, if it has a separate one."""
        sandbox = self.command.sandbox
        return None if sandbox is None or sandbox.uid_base is None else sandbox.uid_base + self._guard.pid

    @property
    def _folder(self) -> Path:
        if self.folder is None:
            raise RuntimeError("the process was not started")
        return self.folder

    @property
    def inbox(self) -> Path:
        """A folder that a sandboxed process sees as /inputs, and cannot write to."""
        return self._folder / "inputs"

    @property
    def output(self) -> str:
        """The end of its output."""
        return self._output.decode(errors="replace").strip()

    def forget_output(self) -> None:
        self._output = b""

    def send_order(self, what: bytes) -> None:
        """Send a command to the guard: `s` it starts, `r` a task runs, `i` idle."""
        with contextlib.suppress(OSError):  # it has ended; others detect that
            self._control.send(what)

    async def kill(self) -> None:
        """End the process and all its descendants; return when they have ended."""
        if self._watching is None:
            self._remove_folder()
            return
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(_KILLED_WITHIN):
                await self.ended.wait()
        except TimeoutError:  # blocked in the kernel, or its guard was stopped
            log.warning("process_stuck", name=self.command.name, guard=self._guard.pid)
            _kill_session(self._guard.pid)
            await self.ended.wait()

    def _spawn(self) -> None:
        with contextlib.ExitStack() as ours_on_error, contextlib.ExitStack() as theirs:
            self._control, control = _pair(ours_on_error, theirs)
            self._control.setblocking(False)
            pairs = [_pair(ours_on_error, theirs) for _ in range(self.command.sockets)]
            self._output_fd, output = os.pipe()
            os.set_blocking(self._output_fd, False)
            theirs.callback(os.close, output)
            ours_on_error.callback(os.close, self._output_fd)
            handed = [other.fileno() for _, other in pairs]
            spec = self._spec(control.fileno(), handed)
            self._guard = subprocess.Popen(
                [*self.command.python, str(GUARD), spec.dump()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(control.fileno(), *handed),
                start_new_session=True,
                cwd=None if spec.sandbox is None and not spec.argv else "/",
                env=self._environment(),
            )
            self.sockets = [ours for ours, _ in pairs]
            ours_on_error.pop_all()

    def _spec(self, control: int, handed: list[int]) -> Spec:
        command, folder = self.command, str(self.folder)
        sandbox = command.sandbox
        if sandbox is not None:
            sandbox = replace(
                sandbox, root=f"{folder}/root", mounts=[*sandbox.mounts, ("read", f"{folder}/inputs", INPUTS)]
            )
        return Spec(
            control=control,
            owner=os.getpid(),
            python=command.python,
            limits=command.limits,
            descriptors=[fd for fd in handed for _ in range(1 + command.doubled)],
            module=command.module,
            argv=[self._placed(argument) for argument in command.argv],
            folder=folder,
            watched=command.watched,
            watched_mb=command.watched_mb,
            sandbox=sandbox,
        )

    def _environment(self) -> dict[str, str] | None:
        """A minimal environment: the variables of this process may contain secrets."""
        sandbox, given = self.command.sandbox, self.command.environment
        if sandbox is None and given is None:
            return None
        home = self._home_seen()
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        base = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": home, "TMPDIR": home}
        if home == SCRATCH:
            base[ISOLATED] = "1"
        return base | kept | dict(given or {})

    def _home_seen(self) -> str:
        """The home folder, as the process sees it."""
        sandbox = self.command.sandbox
        if sandbox is not None and sandbox.is_isolated:
            return SCRATCH
        return str(self._folder / "home")

    def _placed(self, argument: str) -> str:
        """An argument with its folder placeholders replaced by the paths that the process sees."""
        sandbox = self.command.sandbox
        is_isolated = sandbox is not None and sandbox.is_isolated
        inputs, output = (INPUTS, OUTPUT) if is_isolated else (str(self.inbox), self.command.watched)
        places = {HOME: self._home_seen(), INPUTS_AT: inputs, OUTPUT_AT: output}
        for name, place in places.items():
            argument = argument.replace(name, place)
        return argument

    async def _watch(self) -> None:
        """Wait for the guard's last message, then clean up."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            self.end_reason = (await loop.sock_recv(self._control, 64)).decode().strip()
        if not self.end_reason:
            _kill_session(self._guard.pid)
        while self._guard.poll() is None:  # noqa: ASYNC110 - it is exiting; works on every event loop
            await asyncio.sleep(0.001)
        loop.remove_reader(self._output_fd)
        self._read_output()
        os.close(self._output_fd)
        self._control.close()
        self._remove_folder()  # unless the guard was killed, it has already done so
        self.end_reason = self._flooded or self.end_reason
        self.ended.set()

    def _read_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            read = os.read(self._output_fd, 1 << 16)  # the size of a pipe's buffer
            if not read:
                asyncio.get_running_loop().remove_reader(self._output_fd)
            self._output = (self._output + read)[-_TAIL:]
            self._bound_output(len(read))
            if self._on_line is not None:
                self._report_lines(self._on_line, read)

    def _bound_output(self, size: int) -> None:
        self._printed += size
        most = self.command.printed_mb
        if most is not None and self._printed > most << 20 and not self._flooded:
            self._flooded = "output"
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_WR)

    def _report_lines(self, tell: Callable[[str], None], read: bytes) -> None:
        *lines, self._line = (self._line + read.replace(b"\r", b"\n")).split(b"\n")
        if not read and self._line:
            lines, self._line = [*lines, self._line], b""
        self._line = self._line[-_LONGEST_LINE:]
        for line in lines[-_LINES_AT_ONCE:]:
            if line:
                tell(line[:_LONGEST_LINE].decode(errors="replace"))


def describe_overrun(how: str, limits: ResourceLimits) -> str | None:
    """A description of the limit for which the guard stopped a process; None if the process ended otherwise."""
    return {
        "memory": f"needed more than {limits.memory_mb} MB of memory",
        "cpu": f"needed more than {limits.cpu_s or 0:g} s of CPU time",
        "disk": "wrote more files than allowed",
        "output": "printed more than allowed",
        f"signal {int(signal.SIGXFSZ)}": f"wrote a file of more than {limits.file_mb} MB",
    }.get(how)


def signal_name(number: str) -> str:
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return f"signal {number}"


def _pair(ours_on_error: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    ours, other = socket.socketpair()
    ours_on_error.callback(ours.close)
    theirs.callback(other.close)
    return ours, other


def _kill_session(sid: int) -> None:
    """Kill the guard and its remaining processes; it is not reaped yet, so its process id is not reused."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_bytes().rpartition(b")")[2].split()[3]) == sid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
