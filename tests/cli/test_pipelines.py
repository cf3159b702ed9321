"""`forebay pipelines`: versions, their open jobs and workers, and going back to one of them."""

from __future__ import annotations

import json

from tests.cli._run import Cli, ask
from tests.sql._db import step


def _register(dsn: str, *steps: dict[str, object]) -> None:
    definition = json.dumps({"name": "pages", "steps": steps})
    ask(dsn, f"select count(*) from forebay.register_pipeline('{definition}')")


def test_versions_with_open_jobs_are_listed_with_what_nobody_runs(cli: Cli, dsn: str) -> None:
    _register(dsn, step("a"), step("b", "a"))
    ask(dsn, "select job_id from forebay.submit('pages', '{}')")
    _register(dsn, step("a"), step("n", "a"), step("b", "n"))
    found = [version for version in cli.run("pipelines", "--json").json if version["pipeline"] == "pages"]
    assert [(v["number"], v["is_present"], v["open_jobs"], v["unserved"]) for v in found] == [
        (1, False, 1, ["a", "b"]),
        (2, True, 0, ["a", "n", "b"]),
    ]
    shown = cli.run("pipelines").out
    assert "a, n, b" in shown
    assert "present" in shown
    doctor = cli.run("doctor").out
    assert "1 open job of pages, version 1: no living worker runs a, b" in " ".join(doctor.split())
    assert "forebay pipelines use pages 1" in " ".join(doctor.split())


def test_a_version_is_chosen_by_hand(cli: Cli, dsn: str) -> None:
    _register(dsn, step("a"))
    _register(dsn, step("a"), step("b", "a"))
    assert cli.run("pipelines", "use", "pages", "1").out == "New jobs of pages use version 1.\n"
    assert ask(dsn, "select cardinality(roots) = 1 and steps = 1 from forebay.pipeline where name = 'pages'") is True
    refused = cli.run("pipelines", "use", "pages", "9")
    assert refused.code != 0
    assert "pipeline 'pages' has no version 9: `forebay pipelines` lists them" in refused.err
