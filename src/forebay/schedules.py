"""Schedules that a program creates at run time; constant schedules are declared with `Pipeline.schedule`."""

from __future__ import annotations

from forebay.engine.maintenance.schedules import pause_schedule, put_schedule, remove_schedule, resume_schedule

__all__ = ["pause_schedule", "put_schedule", "remove_schedule", "resume_schedule"]
