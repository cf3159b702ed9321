"""Periodic work: the sweep, retention, cron schedules."""
