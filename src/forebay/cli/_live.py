"""The live view that `forebay top` and `forebay up` share."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from forebay.cli import _show as show
from forebay.engine.supervise.controllers import step_control
from forebay.engine.supervise.health import Signs, verdict
from forebay.engine.supervise.rates import Rates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from forebay.engine.db.lanes import LaneRow
    from forebay.engine.db.overview import DeadLetterRow, Depth, JobRow, Overview, WorkerRow
    from forebay.engine.supervise.controllers import StepControl
    from forebay.engine.supervise.health import Verdict


class View:
    """Draws the current state within a number of lines.

    `guide` shows the first steps; `folded` shows pipelines instead of their steps; `starting` is shown while no worker
    runs, by a command that starts one.
    """

    def __init__(self, title: str, *, folded: bool = False, footer: str = "", starting: str = "") -> None:
        self.rates = Rates()
        self.trouble = ""  # shown while the database is unavailable
        self.guide: list[Text] = []
        self.notices: deque[str] = deque(maxlen=3)
        self._title = title
        self._folded = folded
        self._footer = footer
        self._starting = starting
        self._seen: Overview | None = None

    def add(self, seen: Overview) -> None:
        self._seen = seen
        self.trouble = ""
        self.rates.add(seen.at, seen.settled, seen.ended)

    def draw(self, height: int, width: int) -> RenderableType:
        parts: list[RenderableType] = [self._head(), *self.guide]
        if self.trouble:
            parts.append(Text(self.trouble, style="red"))
        rest: list[RenderableType] = [Text(notice, style="yellow") for notice in self.notices]
        if self._footer:
            rest.append(Text(self._footer, style="dim"))
        if self._seen is not None:
            if not self._folded:
                health = _health(self._seen)
                parts.append(health)
                height -= len(health.plain) // width  # the lines that it takes besides the first
            sections = self._few if self._folded else self._all
            parts += sections(self._seen, height - len(parts) - len(rest) - 1, wide=width >= _WIDE)
        return Group(*parts, *rest)

    def _head(self) -> RenderableType:
        head = Table.grid(expand=True)
        head.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        head.add_column(justify="right", no_wrap=True)
        speeds = f"{show.rate(self.rates.items, 'items')}   {show.rate(self.rates.tasks, 'tasks')}"
        head.add_row(Text(self._title, style="bold"), Text(speeds, style="bold cyan"))
        return head

    def _few(self, seen: Overview, lines: int, *, wide: bool) -> list[RenderableType]:
        """Jobs, tasks by pipeline, a line about workers, and the last failures, in this order of priority."""
        lines -= 2  # the line about workers
        jobs = seen.jobs[: max(1, min(5, lines - 3))]
        lines -= len(jobs) + 3 if jobs else 0
        busy = _pipelines(seen)[: max(0, lines - 3)]
        lines -= len(busy) + 3 if busy else 0
        letters = seen.dead_letters[: max(0, min(3, lines - 3))]
        parts = [_jobs(jobs, seen.at, wide=wide)] if jobs else []
        parts += [_pipeline_table(busy)] if busy else []
        parts += [_letters(letters)] if letters else []
        parts.append(self._worker_line(seen))
        return [part for section in parts for part in (Text(), section)]

    def _worker_line(self, seen: Overview) -> Text:
        alive = [worker for worker in seen.workers if worker.alive]
        if not alive:
            return self._no_worker()
        tasks = show.plural(sum(worker.in_flight for worker in alive), "task")
        text = f"{show.plural(len(alive), 'worker')} running, {tasks} at work"
        stuck = sum(worker.stuck for worker in alive)
        return Text(f"{text}, {stuck} stuck: `forebay doctor`" if stuck else text, style="red" if stuck else "green")

    def _no_worker(self) -> Text:
        return Text(self._starting or "no worker is running: start one with `forebay worker`", style="yellow")

    def _all(self, seen: Overview, lines: int, *, wide: bool) -> list[RenderableType]:
        """All sections that are not empty; steps get the remaining lines."""
        jobs, workers, letters = seen.jobs[:4], _freshest(seen)[:5], seen.dead_letters[:3]
        lanes = seen.lanes[:3]
        taken = sum(len(part) + 3 for part in (jobs, workers, letters, lanes) if part)
        parts = [_jobs(jobs, seen.at, wide=wide)] if jobs else []
        parts.append(_steps(seen, max(4, lines - taken - 3), wide=wide))
        if lanes:
            parts.append(_lane_table(lanes))
        parts.append(_workers(workers, len(seen.workers), seen.at) if workers else self._no_worker())
        if letters:
            parts.append(_letters(letters))
        return [part for section in parts for part in (Text(), section)]


def _health(seen: Overview) -> Text:
    judged = _verdict(seen)
    return Text(judged.sentence, style=_LEVELS[judged.level])


def _verdict(seen: Overview) -> Verdict:
    return verdict(Signs(seen.at, seen.depth, seen.workers, seen.failed_last_hour))


_LEVELS = {"OK": "green", "WARN": "yellow", "FAIL": "red"}
_WIDE = 100  # width of a terminal that also shows the controllers of steps


# Columns that are shown when a listed job has such items.
_RARE = {"not found": "not_found", "skipped": "skipped"}


def _jobs(jobs: Sequence[JobRow], at: datetime, *, wide: bool) -> RenderableType:
    rare = [(name, counter) for name, counter in _RARE.items() if any(getattr(job, counter) for job in jobs)]
    has_bar = wide or not rare
    made = show.table(">job", "pipeline" if has_bar else "*pipeline", "owner", "state", expand=True)
    if has_bar:
        made.add_column("", ratio=1)
    for name in ("done", *(name for name, _ in rare), "failed", "ETA"):
        made.add_column(name, justify="right", no_wrap=True, min_width=6, header_style="dim")
    for job in jobs:
        bar = ProgressBar(total=max(1, job.total), completed=job.ended, complete_style="cyan", finished_style="green")
        made.add_row(
            str(job.id),
            job.pipeline,
            job.owner,
            show.state(job.state),
            *((bar,) * has_bar),
            f"{show.number(job.done)} of {show.number(job.total)}",
            *(show.faint_zero(getattr(job, counter), "yellow") for _, counter in rare),
            show.faint_zero(job.error, "red"),
            show.between(at, job.eta),
        )
    return made


# Tasks by pipeline or by step.


def _pipelines(seen: Overview) -> list[tuple[Text, int, int, int]]:
    """For each busy pipeline: its name, and the number of waiting, running and held tasks."""
    found: list[tuple[Text, int, int, int]] = []
    for name, group in groupby(sorted(seen.depth, key=_pipeline_of), key=_pipeline_of):
        steps = list(group)
        stopped = [step for step in steps if step.parked or step.paused]
        if stopped or any(step.open for step in steps):
            label = Text(name)
            for step in stopped[:1]:
                label.append(f"  {step.step} {_stop(step)}", style="red" if step.parked else "yellow")
            counts = (sum(step.waiting for step in steps), sum(step.leased for step in steps))
            found.append((label, *counts, sum(step.on_hold for step in steps)))
    return found


def _pipeline_of(depth: Depth) -> str:
    return depth.pipeline


def _pipeline_table(busy: Sequence[tuple[Text, int, int, int]]) -> RenderableType:
    made = show.table("*pipeline", ">waiting", ">running", ">held", expand=True)
    for name, waiting, running, held in busy:
        made.add_row(name, show.faint_zero(waiting), show.faint_zero(running, "cyan"), show.faint_zero(held, "yellow"))
    return made


def _steps(seen: Overview, most: int, *, wide: bool) -> RenderableType:
    """The busy steps, and the names of idle pipelines."""
    if not seen.depth:
        return Text("no pipeline is registered yet: a worker registers them when it starts", style="dim")
    busy = sorted((depth for depth in seen.depth if _is_busy(depth, seen.workers)), key=lambda depth: -depth.open)
    idle = sorted({depth.pipeline for depth in seen.depth} - {depth.pipeline for depth in busy})
    told = Text(f"idle: {', '.join(idle)}", style="dim")
    return Group(_step_table(busy, most, seen, wide=wide), *([told] if idle else [])) if busy else told


def _is_busy(depth: Depth, workers: Sequence[WorkerRow]) -> bool:
    control = step_control(f"{depth.pipeline}.{depth.step}", workers)
    return bool(depth.open or depth.parked or depth.paused or (control and control.running))


def _step_table(busy: Sequence[Depth], most: int, seen: Overview, *, wide: bool) -> RenderableType:
    controllers = (">limit", ">batch", ">item") if wide else ()
    made = show.table("*step", ">ready", ">scheduled", ">leased", ">held", ">running", *controllers, expand=True)
    shown = busy if len(busy) <= most else busy[: most - 1]
    for depth in shown:
        control = step_control(f"{depth.pipeline}.{depth.step}", seen.workers)
        made.add_row(
            _step_name(depth),
            show.faint_zero(depth.ready),
            show.faint_zero(depth.scheduled),
            show.faint_zero(depth.leased, "cyan"),
            show.faint_zero(depth.on_hold, "yellow"),
            show.number(control.running if control else None),
            *_controllers(control)[: len(controllers)],
        )
    if len(shown) < len(busy):
        made.add_row(Text(f"and {len(busy) - len(shown)} more steps", style="dim"))
    return made


def _controllers(control: StepControl | None) -> tuple[str, str, str]:
    if control is None:
        return show.number(None), show.number(None), show.milliseconds(None)
    return show.number(control.limit), show.number(control.claim), show.milliseconds(control.item_ms)


def _step_name(depth: Depth) -> Text:
    name = Text(f"{depth.pipeline}.{depth.step}")
    if depth.parked or depth.paused:
        name.append(f"  {_stop(depth)}", style="red" if depth.parked else "yellow")
    return name


def _stop(depth: Depth) -> str:
    return f"parked: {depth.parked}" if depth.parked else "paused"


def _lane_table(lanes: Sequence[LaneRow]) -> RenderableType:
    made = show.table("*lane", ">priority", ">weight", ">ready", ">running", expand=True)
    for lane in lanes:
        whose = Text(f"{lane.owner}, {f'job {lane.job_id}' if lane.job_id else 'small jobs'}")
        if lane.paused:
            whose.append("  paused", style="yellow")
        counts = (show.number(lane.ready), show.faint_zero(lane.running, "cyan"))
        made.add_row(whose, str(lane.priority), f"{lane.weight:g}", *counts)
    return made


def _workers(workers: Sequence[WorkerRow], total: int, at: datetime) -> RenderableType:
    made = show.table("*worker", "state", ">in flight", ">completed", ">lost", ">running for", ">seen", expand=True)
    for worker in workers:
        made.add_row(
            worker.name,
            _worker_state(worker),
            show.faint_zero(worker.in_flight),
            show.number(worker.settled),
            show.faint_zero(worker.stale, "yellow"),
            show.between(worker.started_at, at),
            show.ago(worker.seen_at, at),
        )
    if total > len(workers):
        made.add_row(Text(f"and {total - len(workers)} more", style="dim"))
    return made


def _freshest(seen: Overview) -> list[WorkerRow]:
    """The workers; those without a recent heartbeat come last."""
    return sorted(seen.workers, key=lambda worker: (seen.at - worker.seen_at).total_seconds() > 10)


def _worker_state(worker: WorkerRow) -> Text:
    if worker.stuck:
        return Text("stuck", style="bold red")
    return Text("alive", style="green") if worker.alive else Text("silent", style="yellow")


def _letters(letters: Sequence[DeadLetterRow]) -> RenderableType:
    made = show.table("failed at", "task", "class", "*reason", expand=True)
    for letter in letters:
        task = f"job {letter.job_id} item {letter.n} {letter.step}"
        made.add_row(show.moment(letter.at), task, letter.error_class or "", letter.reason or "")
    return made


def as_json(seen: Overview, rates: Rates) -> dict[str, Any]:
    """The view as JSON."""
    return {
        "at": seen.at,
        "health": asdict(_verdict(seen)),
        "items_per_s": rates.items,
        "tasks_per_s": rates.tasks,
        "steps": [
            {
                **asdict(depth),
                "controllers": _control_json(step_control(f"{depth.pipeline}.{depth.step}", seen.workers)),
            }
            for depth in seen.depth
        ],
        "lanes": [_lane_json(lane) for lane in seen.lanes],
        "workers": [asdict(worker) for worker in seen.workers],
        "jobs": [show.job_json(job) for job in seen.jobs],
        "dead_letters": [show.letter_json(letter) for letter in seen.dead_letters],
    }


def _control_json(control: StepControl | None) -> dict[str, Any] | None:
    return None if control is None else asdict(control)


def _lane_json(lane: LaneRow) -> dict[str, Any]:
    values = asdict(lane)
    del values["owner_id"]
    return {**values, "job_id": str(lane.job_id) if lane.job_id else None}
