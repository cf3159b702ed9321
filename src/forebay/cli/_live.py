"""The live view that `forebay top` and `forebay up` share."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from forebay.cli import _show as show

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from forebay.db.overview import Depth, JobRow, Overview, WorkerRow

_WINDOW = 10.0  # seconds; workers tell their counters every two


@dataclass(frozen=True, slots=True)
class _Sample:
    """Counters at one moment: kind → whose → how many."""

    at: datetime
    counts: dict[str, dict[str, int]]


class Rates:
    """Speeds from counters, over the last seconds."""

    def __init__(self, window: float = _WINDOW) -> None:
        self._window = window
        self._samples: deque[_Sample] = deque()

    def add(self, seen: Overview) -> None:
        ended = {str(job.id): job.ended for job in seen.jobs}
        self._samples.append(_Sample(seen.at, {"tasks": seen.settled, "items": ended}))
        while len(self._samples) > 2 and self._seconds_since(self._samples[1]) >= self._window:
            self._samples.popleft()

    def _seconds_since(self, sample: _Sample) -> float:
        return (self._samples[-1].at - sample.at).total_seconds()

    @property
    def tasks(self) -> float | None:
        """Attempts that all workers settled, a second."""
        return self._speed("tasks")

    @property
    def items(self) -> float | None:
        """Items that ended, a second, of the jobs in view."""
        return self._speed("items")

    def job(self, job_id: int) -> float | None:
        """Items of one job that ended, a second."""
        return self._speed("items", str(job_id))

    def _speed(self, of: str, only: str | None = None) -> float | None:
        if not self._samples:
            return None
        last = self._samples[-1].counts[of]
        grown, longest = 0, 0.0
        for who in last if only is None else {only} & last.keys():
            # Whoever came in between counts from when it was first seen: what it did before is another time's.
            first = next(sample for sample in self._samples if who in sample.counts[of])
            grown += max(0, last[who] - first.counts[of][who])
            longest = max(longest, self._seconds_since(first))
        return grown / longest if longest > 0 else None


def remaining(job: JobRow, speed: float | None) -> float | None:
    """Seconds until a running job ends if it goes on like this."""
    if job.state != "RUNNING" or not speed or job.ended >= job.total:
        return None
    return (job.total - job.ended) / speed


class View:
    """Draws what was seen, within so many lines."""

    def __init__(self, title: str, *, lanes: bool = True, footer: str = "") -> None:
        self.rates = Rates()
        self.trouble = ""  # shown instead of silence while the database is away
        self.notices: deque[str] = deque(maxlen=3)
        self._title = title
        self._lanes = lanes
        self._footer = footer
        self._seen: Overview | None = None

    def add(self, seen: Overview) -> None:
        self._seen = seen
        self.trouble = ""
        self.rates.add(seen)

    def draw(self, height: int, width: int) -> RenderableType:
        parts: list[RenderableType] = [self._head()]
        if self.trouble:
            parts.append(Text(self.trouble, style="red"))
        if self._seen is not None:
            parts += self._sections(self._seen, max(12, height - 4), wide=width >= _WIDE)
        parts += [Text(notice, style="yellow") for notice in self.notices]
        if self._footer:
            parts.append(Text(self._footer, style="dim"))
        return Group(*parts)

    def _head(self) -> RenderableType:
        head = Table.grid(expand=True)
        head.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        head.add_column(justify="right", no_wrap=True)
        speeds = f"{show.rate(self.rates.items, 'items')}   {show.rate(self.rates.tasks, 'tasks')}"
        head.add_row(Text(self._title, style="bold"), Text(speeds, style="bold cyan"))
        return head

    def _sections(self, seen: Overview, lines: int, *, wide: bool) -> list[RenderableType]:
        """The parts that have something to show; steps get the lines that the others leave."""
        jobs, workers, letters = seen.jobs[:4], _freshest(seen)[:5], seen.dead_letters[:3]
        lanes = seen.lanes[:3] if self._lanes else []
        taken = sum(len(part) + 3 for part in (jobs, workers, letters, lanes) if part)
        parts = [self._jobs(jobs)] if jobs else []
        parts.append(_steps(seen, max(4, lines - taken - 3), wide=wide))
        if lanes:
            parts.append(_lane_table(seen.lanes[:3]))
        parts.append(_workers(workers, len(seen.workers), seen.at))
        if letters:
            parts.append(_letters(seen, len(letters)))
        return [part for section in parts for part in (Text(), section)]

    def _jobs(self, jobs: Sequence[JobRow]) -> RenderableType:
        made = show.table(">job", "pipeline", "owner", "state", "*done", ">items", ">failed", ">ends in", expand=True)
        for job in jobs:
            bar = ProgressBar(
                total=max(1, job.total), completed=job.ended, complete_style="cyan", finished_style="green"
            )
            left = remaining(job, self.rates.job(job.id))
            made.add_row(
                str(job.id),
                job.pipeline,
                job.owner,
                show.state(job.state),
                bar,
                f"{show.number(job.ended)} of {show.number(job.total)}",
                show.faint_zero(job.error, "red"),
                show.duration(left),
            )
        return made


_WIDE = 100  # columns of a terminal that has room for the controllers of steps, beside their names


def _steps(seen: Overview, most: int, *, wide: bool) -> RenderableType:
    controllers = (">limit", ">claim", ">item") if wide else ()
    made = show.table("*step", ">ready", ">scheduled", ">leased", ">on hold", ">running", *controllers, expand=True)
    ordered = seen.depth
    if len(ordered) > most:  # the busiest, when not all fit, and before the others those that have done something
        ordered = sorted(seen.depth, key=lambda depth: (-depth.open, _is_fresh(depth, seen.workers)))[: most - 1]
    for depth in ordered:
        control = _control(f"{depth.pipeline}.{depth.step}", seen.workers) or {}
        made.add_row(
            _step_name(depth),
            show.faint_zero(depth.ready),
            show.faint_zero(depth.scheduled),
            show.faint_zero(depth.leased, "cyan"),
            show.faint_zero(depth.on_hold, "yellow"),
            show.number(control.get("running")),
            *_controllers(control)[: len(controllers)],
        )
    if len(ordered) < len(seen.depth):
        made.add_row(Text(f"and {len(seen.depth) - len(ordered)} more steps", style="dim"))
    if not seen.depth:
        made.add_row(Text("no pipeline has been registered yet: a worker does that when it starts", style="dim"))
    return made


def _controllers(control: dict[str, float | None]) -> tuple[str, str, str]:
    item = show.milliseconds(control.get("item_ms"))
    return show.number(control.get("limit")), show.number(control.get("claim")), item


def _is_fresh(depth: Depth, workers: Sequence[WorkerRow]) -> bool:
    """Whether nobody has run it yet."""
    control = _control(f"{depth.pipeline}.{depth.step}", workers)
    return control is None or control["item_ms"] is None


def _step_name(depth: Depth) -> Text:
    name = Text(f"{depth.pipeline}.{depth.step}")
    if depth.parked:
        name.append(f"  parked: {depth.parked}", style="red")
    elif depth.paused:
        name.append("  paused", style="yellow")
    return name


def _control(step: str, workers: Sequence[WorkerRow]) -> dict[str, float | None] | None:
    """A step's controllers over all living workers: sums, and the mean time of an item."""
    told: list[Any] = [worker.steps[step] for worker in workers if worker.alive and step in worker.steps]
    if not told:
        return None
    times: list[float] = [one["claim"]["item_ms"] for one in told if one["claim"]["item_ms"] is not None]
    return {
        "running": sum(one["running"] for one in told),
        "limit": sum(one["concurrency"]["limit"] for one in told),
        "claim": sum(one["claim"]["value"] for one in told),
        "item_ms": sum(times) / len(times) if times else None,
    }


def _lane_table(lanes: Sequence[Any]) -> RenderableType:
    made = show.table("*lane", ">priority", ">weight", ">ready", expand=True)
    for lane in lanes:
        whose = Text(f"{lane.owner}, {f'job {lane.job_id}' if lane.job_id else 'small jobs'}")
        if lane.paused:
            whose.append("  paused", style="yellow")
        made.add_row(whose, str(lane.priority), f"{lane.weight:g}", show.number(lane.ready))
    return made


def _workers(workers: Sequence[WorkerRow], total: int, at: datetime) -> RenderableType:
    if not workers:
        return Text("no worker is running: start one with `forebay worker`", style="yellow")
    made = show.table("*worker", "state", ">in flight", ">settled", ">stale", ">running for", ">seen", expand=True)
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
    """The workers, those that have gone quiet last."""
    return sorted(seen.workers, key=lambda worker: (seen.at - worker.seen_at).total_seconds() > 10)


def _worker_state(worker: WorkerRow) -> Text:
    if worker.stuck:
        return Text("stuck", style="bold red")
    return Text("alive", style="green") if worker.alive else Text("silent", style="yellow")


def _letters(seen: Overview, count: int) -> RenderableType:
    made = show.table("failed at", "task", "class", "*reason", expand=True)
    for letter in seen.dead_letters[:count]:
        task = f"job {letter.job_id} item {letter.n} {letter.step}"
        made.add_row(show.moment(letter.at), task, letter.error_class or "", letter.reason or "")
    return made


def as_json(seen: Overview, rates: Rates) -> dict[str, Any]:
    """The view for programs."""
    return {
        "at": seen.at,
        "items_per_s": rates.items,
        "tasks_per_s": rates.tasks,
        "steps": [
            {**asdict(depth), "controllers": _control(f"{depth.pipeline}.{depth.step}", seen.workers)}
            for depth in seen.depth
        ],
        "lanes": [{**asdict(lane), "job_id": str(lane.job_id) if lane.job_id else None} for lane in seen.lanes],
        "workers": [asdict(worker) for worker in seen.workers],
        "jobs": [show.job_json(job) for job in seen.jobs],
        "dead_letters": [show.letter_json(letter) for letter in seen.dead_letters],
    }
