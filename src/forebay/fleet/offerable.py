"""Which steps a fleet can run: those that do not need the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.engine.declare.step import Step


def why_not_offered(step: Step[Any, Any]) -> str | None:
    """Why a step stays with workers; None if a fleet can run it."""
    if step.after_all:
        return "it reads the items of its job"
    if step.maps:
        return "it stores the items of its Map"
    if step.needs_database or step.pipeline.needs_database:
        return "it is declared with needs_database"
    return None
