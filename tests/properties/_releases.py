"""Releases of one pipeline: graphs of steps, and the changes that make one from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

PIPELINE = "p"


@dataclass(frozen=True)
class Step:
    """A step of one release; `id` stays the same in all releases, whatever the step is called."""

    id: str
    name: str
    after: tuple[str, ...] = ()  # ids
    optional: bool = False
    after_all: bool = False
    queue: str = "fast"
    max_attempts: int = 3
    renamed_from: str | None = None


Graph = tuple[Step, ...]
Change = Callable[[Graph, int, str], Graph]  # of the step at this place; a new step gets this id

FIRST: Graph = (
    Step("a", "a"),
    Step("b", "b", ("a",)),
    Step("c", "c", ("a",), optional=True),
    Step("all", "all", after_all=True),
)


def definition(graph: Graph) -> dict[str, Any]:
    """The graph as `register` takes it."""
    names = {step.id: step.name for step in graph}
    return {
        "name": PIPELINE,
        "steps": [
            {
                "name": step.name,
                "after": [names[parent] for parent in step.after],
                "optional": step.optional,
                "after_all": step.after_all,
                "queue": step.queue,
                "max_attempts": step.max_attempts,
                "max_expiries": 1000,
            }
            | ({} if step.renamed_from is None else {"renamed_from": step.renamed_from})
            for step in graph
        ],
    }


def insert(graph: Graph, at: int, fresh: str) -> Graph:
    """A new step between one and those that came after it; after a step of jobs, or in its place at the end."""
    before = graph[at]
    step = Step(fresh, fresh, (before.id,), after_all=before.after_all, queue="slow")
    later = tuple(
        replace(s, after=tuple(fresh if parent == before.id else parent for parent in s.after)) for s in graph[at + 1 :]
    )
    return (*graph[: at + 1], step, *later)


def insert_root(graph: Graph, at: int, fresh: str) -> Graph:
    """A new step that waits for nothing, and for which one of the others waits."""
    child = graph[at]
    step = Step(fresh, fresh, after_all=child.after_all)
    return (step, *(replace(s, after=(*s.after, fresh)) if s.id == child.id else s for s in graph))


def remove(graph: Graph, at: int, fresh: str) -> Graph:
    """One step less; what came after it comes after its parents. The last step of items stays."""
    del fresh
    gone = graph[at]
    if not gone.after_all and sum(not s.after_all for s in graph) == 1:
        return graph

    def parents(step: Step) -> tuple[str, ...]:
        new = (p for parent in step.after for p in (gone.after if parent == gone.id else (parent,)))
        return tuple(dict.fromkeys(new))

    return tuple(replace(s, after=parents(s)) for s in graph if s is not gone)


def rename(graph: Graph, at: int, fresh: str) -> Graph:
    old = graph[at]
    return _with(graph, at, replace(old, name=f"{old.id}_{fresh}", renamed_from=old.name))


def move_up(graph: Graph, at: int, fresh: str) -> Graph:
    """The step waits for nothing any more."""
    del fresh
    return _with(graph, at, replace(graph[at], after=()))


def move_down(graph: Graph, at: int, fresh: str) -> Graph:
    """The step waits for all that are declared before it."""
    del fresh
    step = graph[at]
    return _with(graph, at, replace(step, after=tuple(s.id for s in graph[:at] if s.after_all == step.after_all)))


def change_optional(graph: Graph, at: int, fresh: str) -> Graph:
    del fresh
    return _with(graph, at, replace(graph[at], optional=not graph[at].optional))


def change_queue(graph: Graph, at: int, fresh: str) -> Graph:
    del fresh
    return _with(graph, at, replace(graph[at], queue="slow" if graph[at].queue == "fast" else "fast"))


def change_retries(graph: Graph, at: int, fresh: str) -> Graph:
    del fresh
    return _with(graph, at, replace(graph[at], max_attempts=graph[at].max_attempts % 5 + 1))


def _with(graph: Graph, at: int, step: Step) -> Graph:
    return (*graph[:at], step, *graph[at + 1 :])


CHANGES: tuple[Change, ...] = (
    insert, insert_root, remove, rename, move_up, move_down, change_optional, change_queue, change_retries,
)  # fmt: skip
