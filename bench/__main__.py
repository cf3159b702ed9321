"""Measure, print every figure as a ratio, write RESULTS.md and results.json.

QUICK=1 in the environment (or --quick) measures less and leaves the peers out.
"""

import argparse
import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import uvloop
from rich.console import Console
from rich.markup import escape

from bench import server, suite
from bench.harness import Context
from bench.ours import Forebay
from bench.peers import Peer, installed_peers
from bench.report import HERE, Report
from bench.sizes import FULL, QUICK

Say = Callable[[str], None]


def main() -> int:
    return uvloop.run(_until_told(_arguments()))


def _arguments() -> argparse.Namespace:
    quick = os.environ.get("QUICK", "") not in {"", "0"}
    groups = ",".join(suite.GROUPS)
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action=argparse.BooleanOptionalAction, default=quick)
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, help="default: unless quick")
    parser.add_argument("--ours", action=argparse.BooleanOptionalAction, default=True, help="forebay itself")
    parser.add_argument("--only", default=groups, help=f"some of {groups}")
    parser.add_argument("--out", type=Path, default=HERE, help="where the two result files go")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a bar does not hold")
    found = parser.parse_args()
    if unknown := set(found.only.split(",")) - set(suite.GROUPS):
        parser.error(f"unknown group: {', '.join(sorted(unknown))}")
    return found


async def _until_told(arguments: argparse.Namespace) -> int:
    """SIGTERM ends the run as Ctrl-C does: no worker and no server stays behind."""
    run = asyncio.ensure_future(_run(arguments))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, run.cancel)
    try:
        return await run
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


async def _run(arguments: argparse.Namespace) -> int:
    console, began = Console(highlight=False, soft_wrap=True), time.monotonic()

    def say(line: str) -> None:
        console.print(f"[dim]{time.monotonic() - began:6.1f} s[/dim]  {escape(line)}")

    peers = _peers(arguments, say)
    folder = server.work_folder()
    try:
        report = await _with_server(arguments, folder, peers, say)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.facts["Took"] = f"{(time.monotonic() - began) / 60:.1f} minutes"
    report.save(arguments.out)
    return _finish(console, report, strict=arguments.strict)


def _peers(arguments: argparse.Namespace, say: Say) -> list[Peer]:
    wanted = not arguments.quick if arguments.peers is None else arguments.peers
    if not wanted:
        return []
    say("peers: installing what is missing")
    return installed_peers()


async def _with_server(arguments: argparse.Namespace, folder: Path, peers: list[Peer], say: Say) -> Report:
    sizes = QUICK if arguments.quick else FULL
    running = await server.start(folder)
    try:
        report = Report(sizes.mode, running.version)
        report.facts |= {peer.label: peer.settings for peer in peers}
        contender = Forebay() if arguments.ours else None
        context = Context(running, folder, sizes, report, contender, peers, say)
        await suite.run(context, arguments.only.split(","))
    finally:
        running.stop()
    return report


def _finish(console: Console, report: Report, *, strict: bool) -> int:
    console.print()
    console.print(escape(report.detection))
    for record in report.records:
        console.print(escape(record.as_line()), style=None if record.holds else "bold red")
    for failure in report.failures:
        console.print(escape(f"FAILED {failure}"), style="bold red")
    missed = strict and not all(record.holds for record in report.records)
    return 1 if report.failures or missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
