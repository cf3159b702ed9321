"""What we publish is complete: the wheel and the source archive, built and tried."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from forebay import embedded

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, built from the source archive as an index would receive it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it, which borrows only the dependencies from ours."""
    venv = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install", "--quiet"]
    options = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *options, str(wheel)], check=True)
    site = sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)})
    # A plain path is enough: our editable install is a .pth file, and those work only in site folders.
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return venv


def run(venv: Path, *command: str) -> str:
    """Run a program of the environment, away from the source tree."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [venv / "bin" / command[0], *command[1:]],
        capture_output=True,
        text=True,
        check=False,
        cwd=venv,
        env=clean,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources(pattern: str) -> set[str]:
    """Our package's files of a kind, as paths within the archive."""
    return {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "forebay").rglob(pattern)}


def test_the_wheel_carries_code_sql_and_types(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert sources("*.py") | sources("*.sql") | {"forebay/py.typed"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_both_carry_the_built_web_app_and_its_licences(built: Path) -> None:
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        packed = {name.split("/", 1)[-1] for name in tar.getnames()}
    for names, folder in ((set(zipfile.ZipFile(wheel).namelist()), "forebay/web"), (packed, "src/forebay/web")):
        assert {f"{folder}/index.html", f"{folder}/index.html.br", f"{folder}/licences.txt", f"{folder}/stamp"} <= names
        assert not [name for name in names if "node_modules" in name]
    assert {"web/package-lock.json", "web/src/main.tsx", "scripts/web.py"} <= packed
    licences = zipfile.ZipFile(wheel).read("forebay/web/licences.txt").decode()
    assert "react-dom" in licences
    assert "Permission is hereby granted" in licences


def test_the_source_archive_carries_what_a_build_needs(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.split("/", 1)[-1] for name in tar.getnames()}
    assert {f"src/{name}" for name in sources("*.sql")} <= names
    assert {"LICENSE", "README.md", "pyproject.toml", "requirements.lock"} <= names


def test_the_wheel_runs_without_the_source_tree(installed: Path) -> None:
    place = run(installed, "python", "-c", "import forebay; print(forebay.__file__)")
    assert Path(place.strip()).is_relative_to(installed)
    assert not Path(place.strip()).is_relative_to(Path(embedded.__file__).parent.parent)


def test_the_command_line_starts(installed: Path) -> None:
    assert "Usage:" in run(installed, "forebay", "--help")
    assert "0.1.0" in run(installed, "forebay", "--version")
