"""The Dockerfile and the compose file: valid, and what they name is there."""

# demands: S1-118

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatch
from typing import Any

import pytest

from tests.ops._chart import program
from tests.ops._programs import COMPOSE, compose, image
from tests.ops._prometheus import OPS

ROOT = OPS.parent
_GIVEN: dict[str, str] = dict.fromkeys(
    ("POSTGRES_PASSWORD", "FOREBAY_SIGNING_KEY", "FOREBAY_METRICS_TOKEN", "NATS_PASSWORD"), "x" * 32
)


def dockerfile() -> str:
    """Without continued lines."""
    return (OPS / "Dockerfile").read_text("utf-8").replace("\\\n", "")


def test_hadolint_has_nothing_to_say() -> None:
    ran = subprocess.run([program("hadolint"), str(OPS / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def test_the_build_gets_what_it_copies_and_nothing_else() -> None:
    rules = (OPS / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert rules[0] == "*"
    kept = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = {
        source.removeprefix("./")
        for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile(), re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == kept
    assert all((ROOT / each).exists() for each in copied)
    assert any(fnmatch("src/forebay/web", rule) for rule in rules)  # it is built in the image, not here


def test_the_image_runs_without_root_and_installs_only_what_is_locked() -> None:
    text = dockerfile()
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    installs = re.findall(r"pip install ([^&\n]*)", text)
    assert installs
    for options in installs:
        assert "--require-hashes" in options or "--no-index" in options, options
    assert "hatchling" in (ROOT / "requirements.runtime.lock").read_text("utf-8")
    assert image()[1]["FOREBAY_DATA_DIR"] == "/data"
    assert re.search(r'^VOLUME \["/data"\]$', text, re.MULTILINE)


def test_the_compose_files_are_valid_and_confined() -> None:
    command = [program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", *map(str, COMPOSE)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    services = compose(_GIVEN)
    for name, each in services.items():
        if each["image"].startswith("forebay:"):
            assert each["read_only"], name
            assert each["cap_drop"] == ["ALL"], name
            assert "no-new-privileges:true" in each["security_opt"], name
            assert each["build"] == {"context": "..", "dockerfile": "ops/Dockerfile"}, name


def test_the_runner_of_the_compose_files_has_the_broker_alone() -> None:
    services = compose(_GIVEN)
    runner = services["runner"]
    assert not [name for name in runner["environment"] if "DATABASE" in name]
    assert runner["volumes"] != services["worker"]["volumes"]
    reached = {name for name, each in services.items() if {*networks(each)} & {*networks(runner)}}
    assert reached == {"nats", "dispatch", "runner"}
    assert {*networks(services["postgres"])} <= {*networks(services["dispatch"])}


def networks(service: dict[str, Any]) -> list[str]:
    found: list[str] = service.get("networks", ["default"])
    return found


@pytest.mark.parametrize("missing", ["POSTGRES_PASSWORD", "NATS_PASSWORD"])
def test_no_service_starts_without_its_password(missing: str) -> None:
    with pytest.raises(KeyError, match=missing):
        compose(_GIVEN | {missing: ""})
    without_fleet = [file for file in COMPOSE if "fleet" not in file.name]
    assert "nats" not in compose({name: value for name, value in _GIVEN.items() if "NATS" not in name}, without_fleet)
