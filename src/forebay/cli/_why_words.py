"""The sentences of `forebay why`: one for each code of a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.cli import _show as show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from forebay.engine.why.reason import Code, Reason

    Facts = Mapping[str, Any]


def sentence(reason: Reason, at: datetime, *, job: int | None = None) -> str:
    """A reason in words, at this time."""
    text = WORDS[reason.code](reason, at)
    tasks = reason.facts.get("tasks", 1)  # of a job
    where = f"{reason.step}: " if reason.step is not None else ""
    count = "" if tasks == 1 else f" ({_tasks(tasks, exact=reason.facts['tasks_exact'])})"
    return f"{where}{text}{count}.{_hint(reason, job)}"


def _running(reason: Reason, at: datetime) -> str:
    facts = reason.facts
    fraction = facts.get("fraction")
    progress = "" if fraction is None else f", {fraction:.0%}"
    note = f": {facts['note']}" if facts.get("note") else ""
    return f"has been running on {facts['worker']}{_for(reason.since, at)} (attempt {_attempt(facts)}){progress}{note}"


def _claimed(reason: Reason, at: datetime) -> str:
    facts = reason.facts
    before = (
        f"{show.number(facts['queued'])} claimed tasks wait there, {facts['running']} of {facts['slots']} slots run"
    )
    return f"is at {facts['worker']}{_for(reason.since, at)} and has not begun: {before}"


def _batch_lingers(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    return (
        f"waits at {facts['worker']} until a batch of {facts['batch']} is full ({facts['queued']} so far), "
        f"at most {show.duration(facts['linger_seconds'])}"
    )


def _settling(reason: Reason, at: datetime) -> str:
    return f"was claimed by {reason.facts['worker']}{_ago(reason.since, at)} and has ended; its result is being saved"


def _worker_lost(reason: Reason, at: datetime) -> str:
    worker = reason.facts.get("worker", "its worker")
    return f"{worker} is lost; the task starts again when its lease ends{_in(reason.until, at)}"


def _cancelling(_reason: Reason, _at: datetime) -> str:
    return "is being cancelled"


def _paused(what: str) -> Callable[[Reason, datetime], str]:
    def text(reason: Reason, at: datetime) -> str:
        by = f" by {reason.facts['by']}" if "by" in reason.facts else ""
        queue = f" {reason.facts['queue']}" if "queue" in reason.facts else ""
        return f"the {what}{queue} was paused{by}{_ago(reason.since, at)}"

    return text


def _parked(reason: Reason, at: datetime) -> str:
    return (
        f"queue {reason.facts['queue']} is parked: {reason.facts['reason']}; it is tried again{_in(reason.until, at)}"
    )


def _version_unserved(reason: Reason, at: datetime) -> str:
    return f"no worker runs version {reason.facts['version']} of the pipeline{_for(reason.since, at)}"


def _no_worker(reason: Reason, _at: datetime) -> str:
    return f"no running worker serves queue {reason.facts['queue']}"


def _signal(reason: Reason, at: datetime) -> str:
    until = "" if reason.until is None else f", at most until {show.moment(reason.until)} ({_left(reason.until, at)})"
    return f"waits for the signal {reason.facts['signal']} with key {reason.facts['key']}{until}"


def _again(verb: str) -> Callable[[Reason, datetime], str]:
    def text(reason: Reason, at: datetime) -> str:
        facts = reason.facts
        told = f": {facts['reason']}" if facts.get("reason") else ""
        count = f" (attempt {_attempt(facts)})" if reason.code == "retry" else ""
        return f"{verb}{_ago(reason.since, at)}{told}; it is tried again{_in(reason.until, at)}{count}"

    return text


def _later(reason: Reason, at: datetime) -> str:
    return f"was submitted to start{_in(reason.until, at)}"


def _due(reason: Reason, at: datetime) -> str:
    missing = "" if reason.facts["leader"] else ": no worker runs the maintenance"
    return f"was due{_ago(reason.since, at)} and has not been put into the queue yet{missing}"


def _owner_limit(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    tasks = show.plural(facts["slots"], "task") if "slots" in facts else "a limited number of tasks"
    return f"its owner may run {tasks} at a time{_line(facts)}"


def _slots_full(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    return f"limit {_limit(facts)}: {_slots(facts)} at a time, {facts['in_use']} in use{_line(facts)}"


def _rate_limited(reason: Reason, at: datetime) -> str:
    facts = reason.facts
    rate = f"{facts['rate']:g} per {show.duration(facts['per_seconds'])}" if "rate" in facts else "its rate"
    return f"limit {_limit(facts)}: {rate}, the next start is{_in(reason.until, at) or ' open'}{_line(facts)}"


def _machine_busy(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    if facts["held_seconds"]:
        return f"workers start nothing for {show.duration(facts['held_seconds'])}, after an error of their machine"
    return (
        f"workers claim {facts['share']:.0%} of the usual number: their machine is busy "
        f"(load {facts['load']:g} per core, {facts['free_memory']:.0%} of memory free, "
        f"event loop {facts['lag_ms']:g} ms late)"
    )


def _outranked(reason: Reason, _at: datetime) -> str:
    tasks = _tasks(reason.facts["higher"], exact=reason.facts["higher_exact"])
    return f"comes after {tasks} of a higher priority than {reason.facts['priority']}"


def _behind(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    ahead = "many tasks" if "ahead" not in facts else _tasks(facts["ahead"], exact=facts["ahead_exact"])
    others = f", who gets {facts['share']:.0%} beside {show.plural(facts['owners'], 'other owner')}"
    about = f", about {show.duration(facts['seconds'])}" if "seconds" in facts else ""
    return f"is in line behind {ahead} of the same owner{others if facts['owners'] else ''}{about}"


def _workers_full(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    each = f"; a task takes about {show.milliseconds(facts['item_ms'])}" if "item_ms" in facts else ""
    workers = show.plural(facts["workers"], "worker")
    return f"all slots are in use ({facts['running']} of {facts['slots']} on {workers}){each}"


def _stuck(reason: Reason, _at: datetime) -> str:
    return f"worker {reason.facts['worker']} has ended nothing for 5 minutes while work waits"


def _unknown(_reason: Reason, _at: datetime) -> str:
    return "nothing holds it back: it should start within a second"


def _blocked_by_step(reason: Reason, _at: datetime) -> str:
    return f"waits for {' and '.join(reason.facts['needs'])}"


def _blocked_by_items(reason: Reason, _at: datetime) -> str:
    facts = reason.facts
    more = "" if facts["sealed"] else ", and more are being added"
    left = f"{show.number(facts['left'])} of {show.number(facts['items'])}"
    return f"waits until all items have ended: {left} are left{more}"


def _filling(reason: Reason, _at: datetime) -> str:
    return f"items are still being added: {show.number(reason.facts['items'])} so far"


WORDS: dict[Code, Callable[[Reason, datetime], str]] = {
    "running": _running,
    "settling": _settling,
    "batch_lingers": _batch_lingers,
    "claimed": _claimed,
    "worker_lost": _worker_lost,
    "cancelling": _cancelling,
    "job_paused": _paused("job"),
    "item_held": _paused("item"),
    "queue_paused": _paused("queue"),
    "parked": _parked,
    "version_unserved": _version_unserved,
    "no_worker": _no_worker,
    "waits_for_signal": _signal,
    "retry": _again("failed"),
    "throttled": _again("was throttled by a remote service"),
    "limit_reached": _again("reached a limit"),
    "snoozed": _again("asked to come back later"),
    "later": _later,
    "due": _due,
    "owner_limit": _owner_limit,
    "slots_full": _slots_full,
    "rate_limited": _rate_limited,
    "machine_busy": _machine_busy,
    "outranked": _outranked,
    "behind": _behind,
    "workers_full": _workers_full,
    "stuck": _stuck,
    "unknown": _unknown,
    "blocked_by_step": _blocked_by_step,
    "blocked_by_items": _blocked_by_items,
    "filling": _filling,
}


def _hint(reason: Reason, job: int | None) -> str:
    """What to do about it, if a command helps."""
    match reason.code:
        case "job_paused":
            return f" `forebay resume {job}` resumes it."
        case "queue_paused":
            return f" `forebay resume --queue {reason.facts['queue']}` resumes it."
        case "no_worker":
            return f" Start one: `forebay worker --queues {reason.facts['queue']}`."
        case "version_unserved":
            return " `forebay pipelines` lists the versions."
        case _:
            return ""


def _attempt(facts: Facts) -> str:
    return f"{facts['attempt']} of {facts['max_attempts']}"


def _tasks(number: int, *, exact: bool) -> str:
    return f"{'' if exact else 'more than '}{show.plural(number, 'task')}"


def _limit(facts: Facts) -> str:
    return f"{facts['limit']} of {facts['key']}" if facts.get("key") else str(facts["limit"])


def _slots(facts: Facts) -> str:
    return show.number(facts.get("slots"))


def _line(facts: Facts) -> str:
    before = f", {show.number(facts['ahead'])} before it" if facts.get("ahead") else ""
    others = f", {show.plural(facts['owners'], 'other owner')} in turn" if facts.get("owners") else ""
    return before + others


def _for(since: datetime | None, at: datetime) -> str:
    return "" if since is None else f" for {show.between(since, max(since, at))}"


def _ago(since: datetime | None, at: datetime) -> str:
    told = "" if since is None else show.ago(since, at)
    return " just now" if told == "now" else told and f" {told}"


def _in(until: datetime | None, at: datetime) -> str:
    return "" if until is None else " now" if until <= at else f" in {_left(until, at)}"


def _left(until: datetime, at: datetime) -> str:
    return show.between(at, max(at, until))
