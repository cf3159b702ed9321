"""Runs programs on untrusted data, such as yt-dlp and ffmpeg: in a sandbox, with limits, reporting each line."""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, DataError, TransientError
from forebay.runner.availability import check_network, sandbox_for
from forebay.runner.files import place, take_over
from forebay.runner.process import GuardedCommand, GuardedProcess, describe_overrun, signal_name
from forebay.runner.spec import OUTPUT, ResourceLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Literal

    from forebay.runner.availability import Mode
    from forebay.runner.spec import Network, Sandbox


@dataclass(frozen=True)
class ProgramLimits:
    """The limits of one run of a program, including its descendants."""

    memory_mb: int = 512
    timeout: float = 600.0
    cpu_s: float | None = None
    file_mb: int = 1024  # the largest file
    scratch_mb: int = 256  # temporary files, in memory
    output_mb: int = 1024  # all files of the output folder together
    printed_mb: int = 64
    processes: int = 256
    open_files: int = 1024


@dataclass(frozen=True)
class Finished:
    """The result of a program: its exit status, the end of its output, and the files that it left in `output`."""

    status: int
    said: str
    files: list[Path]


async def run_program(
    argv: Sequence[str],
    *,
    mode: Mode = "required",
    inputs: Mapping[str, Path] | None = None,
    output: Path | None = None,
    network: Network | Literal["none", "host"] = "none",
    environment: Mapping[str, str] | None = None,
    limits: ProgramLimits | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a program to its end.

    The program sees the system's programs and libraries, and `inputs` by name in the folder `@INPUTS@`. It may write to
    `@OUTPUT@`, which is `output`, and to `@HOME@`, which is deleted afterwards. Use these placeholders in the
    arguments.
    `network` is what `Egress.network()` returns, with the `environment` of a grant. `on_line` gets each printed line.

    Raises:
        ConfigError: the program is not installed, or the mode requires a sandbox and there is none.
        TransientError: the program exceeded a limit or was killed.
        DataError: the name of an input is not a plain file name.
    """
    limits = limits or ProgramLimits()
    program = shutil.which(argv[0])
    if program is None:
        raise ConfigError(f"{argv[0]} is not installed, or not on the PATH")
    check_network(mode, argv[0], network)
    found = await asyncio.to_thread(
        sandbox_for, mode, argv[0], scratch_mb=limits.scratch_mb, programs=[program], python=False
    )
    process = GuardedProcess(_command((program, *argv[1:]), found, network, output, environment, limits), on_line)
    try:
        await asyncio.to_thread(_prepare, process, inputs or {})
        process.start()
        process.send_order(b"r")
        async with asyncio.timeout(limits.timeout):
            await process.ended.wait()
    except TimeoutError:
        await asyncio.shield(process.kill())
        raise TransientError(f"{argv[0]} timed out after {limits.timeout:g} s") from None
    except BaseException:
        await asyncio.shield(process.kill())
        raise
    return _finished(argv[0], process, [] if output is None else await asyncio.to_thread(take_over, output))


def _command(
    argv: tuple[str, ...],
    sandbox: Sandbox | None,
    network: Network | Literal["none", "host"],
    output: Path | None,
    environment: Mapping[str, str] | None,
    limits: ProgramLimits,
) -> GuardedCommand:
    if sandbox is not None:
        mounts = sandbox.mounts if output is None else [*sandbox.mounts, ("write", str(output), OUTPUT)]
        if not sandbox.is_isolated and network != "none":
            network = "host"  # no network namespace; without network, the filter of system calls blocks it
        sandbox = replace(sandbox, network=network, mounts=mounts)
    return GuardedCommand(
        argv[0],
        ResourceLimits(limits.memory_mb, limits.cpu_s, limits.file_mb, limits.processes, limits.open_files),
        argv=argv,
        sandbox=sandbox,
        environment=environment or {},
        watched="" if output is None else str(output.absolute()),
        watched_mb=limits.output_mb,
        printed_mb=limits.printed_mb,
    )


def _prepare(process: GuardedProcess, inputs: Mapping[str, Path]) -> None:
    process.prepare()
    sandbox = process.command.sandbox
    for name, source in inputs.items():
        if name != os.path.basename(name) or name in ("", ".", ".."):  # noqa: PTH119 - a name, not a path
            raise DataError(f"{name!r} is not a file name")
        place(source, process.inbox / name, other_account=sandbox is not None and sandbox.uid_base is not None)


def _finished(name: str, process: GuardedProcess, files: list[Path]) -> Finished:
    if over := describe_overrun(process.end_reason, process.command.limits):
        raise TransientError(f"{name} {over}")
    how, _, number = process.end_reason.partition(" ")
    if how == "exit":
        return Finished(int(number), process.output, files)
    if how == "signal":
        raise TransientError(f"{name} was killed by {signal_name(number)}: {process.output[-300:]}")
    raise TransientError(f"{name} was lost: its guard ended before it")
