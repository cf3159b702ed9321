"""The commands: the file of each, and its line in `forebay --help`, for which no command is imported."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from forebay.packages import Command, leave_out, packages

if TYPE_CHECKING:
    from forebay.packages import PipelinePackage

# Those of pipelines come behind `submit`, where people look for what to do first.
_OWN_COMMANDS = {
    "up": ("up", "Start PostgreSQL, the API and workers."),
    "api": ("api", "Serve the API."),
    "worker": ("worker", "Run the steps of pipelines."),
    "dispatch": ("dispatch", "Offer tasks to the runners of a fleet."),
    "runner": ("runner", "Run the tasks that `forebay dispatch` offers."),
    "migrate": ("migrate", "Bring the database's schema up to date; safe while workers run."),
    "submit": ("submit", "Submit a job."),
    "pipelines": ("pipelines", "List pipelines and their versions."),
    "jobs": ("jobs", "List the newest jobs."),
    "job": ("jobs", "Show one job: counts, results, failures."),
    "why": ("why", "Say why a job, an item or a queue waits."),
    "retry": ("control", "Run failed items of a job again."),
    "pause": ("control", "Pause a job or a queue."),
    "resume": ("control", "Resume a paused job or queue."),
    "cancel": ("control", "Cancel a job."),
    "export": ("export", "Write a job's items to a file."),
    "storage": ("storage", "Show, check and clean stored files."),
    "backup": ("backup", "Write the database and all stored files to one file."),
    "restore": ("backup", "Read a backup: the database and its files."),
    "top": ("top", "Watch jobs, queues and workers live."),
    "doctor": ("doctor", "Check the installation."),
    "users": ("users", "Manage users and their limits."),
    "tokens": ("tokens", "Create and revoke API tokens."),
    "config": ("config", "Show every setting."),
    "completion": ("completion", "Print a shell's completion script."),
}


def own_commands() -> dict[str, Command]:
    return {name: Command(f"forebay.cli.{file}", summary) for name, (file, summary) in _OWN_COMMANDS.items()}


@cache
def commands() -> dict[str, Command]:
    """Every command, in the order in which people meet them. A package with a command of forebay's own is left out."""
    own = own_commands()
    others: dict[str, Command] = {}
    for package in packages():
        for name in package.commands.keys() & own.keys():
            leave_out(package, _taken(package, name))
            break
        else:
            for name, command in package.commands.items():
                others[name] = Command(f"{package.module}.{command.module}", command.summary)
    first = [*own][: [*own].index("submit") + 1]
    return {name: own[name] for name in first} | others | own


def _taken(package: PipelinePackage, name: str) -> Exception:
    from forebay.errors import DefinitionError  # noqa: PLC0415 - help needs no errors

    return DefinitionError(f"the command {name!r} of {package.module} is one of forebay already: rename it")
