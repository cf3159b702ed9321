"""Make ``.venv`` and install this project into it, with what it needs to run; ``--dev``: with the developers' tools.

The packages are those of ``requirements.runtime.lock``, a part of ``requirements.lock``. Uses the standard library
only, and syntax that an old Python still parses, so that it can say what is missing. A stamp makes every later call
instant; a lock lets two calls at once share the work.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NEWEST = (3, 16)
LOCKS = {"runtime": "requirements.runtime.lock", "dev": "requirements.lock"}

_UNREACHABLE = (
    r"NewConnectionError|name resolution|Network is unreachable|ConnectTimeout|Read timed out"
    r"|Connection refused|ProxyError|Max retries exceeded"
)

# What a failing step prints, and what the person in front of it can do. The first match counts.
ADVICE = (
    (
        r"ensurepip is not available|No module named '?ensurepip|No module named '?venv",
        "This Python cannot make virtual environments. On Debian or Ubuntu: apt-get install python3-venv",
    ),
    (
        r"No space left on device|Errno 28|Disk quota exceeded",
        "The disk is full. Free about 1 GB where this folder and the temporary files are, then try again.",
    ),
    (
        r"DO NOT MATCH THE HASHES",
        "A downloaded package differs from the locked one. Check the package index that pip uses.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "The package index could not be trusted. Check the clock, and pip's certificate setting.",
    ),
    (
        _UNREACHABLE,
        "The package index could not be reached. Check the network, or pip's index and proxy settings.",
    ),
    (
        r"from versions: none",
        "The package index has no such package, or could not be reached. Check the network and pip's index.",
    ),
    (
        r"No matching distribution found|Requires-Python",
        "A locked package does not exist for this Python. Try another: make setup PYTHON=python3.12",
    ),
    (
        r"Permission denied|Errno 13|Read-only file system",
        "This account may not write here. Use another folder, or remove a .venv that another account made.",
    ),
)


class StepFailed(Exception):
    """A step did not work; the text says which, why and what to do."""


class Screen:
    """One line per stage, rewritten while it runs if a person is watching."""

    def __init__(self, stages: int) -> None:
        self._stages = stages
        self._stage = 0
        self._live = sys.stdout.isatty()

    @contextlib.contextmanager
    def stage(self, title: str) -> Iterator[Callable[[str], None]]:
        """Show a stage and its duration; the yielded function shows progress within it."""
        self._stage += 1
        head = f"[{self._stage}/{self._stages}] {title}"
        began = time.monotonic()
        if self._live:
            self._rewrite(head)
        else:
            print(f"{head} ...", flush=True)
        yield lambda text: self._rewrite(f"{head}: {text}")
        if self._live:
            self._rewrite(f"{head}: {time.monotonic() - began:.0f} s")
            print(flush=True)

    def _rewrite(self, line: str) -> None:
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{line[:width]}", end="", flush=True)


def advice(output: str) -> str:
    """Return what to do about the output of a failed command."""
    for pattern, text in ADVICE:
        if re.search(pattern, output):
            return text
    return "The last lines above say why."


def failure(step: str, output: str, log: Path | None = None) -> StepFailed:
    """Describe a failed command by its last words, what to do, and where to read more."""
    last = "\n".join(f"    {line}" for line in output.strip().splitlines()[-8:])
    more = f"\nAll of its output: {log}" if log else ""
    return StepFailed(f"{step} failed.\n{last}\n{advice(output)}{more}")


def pythons() -> Iterator[str]:
    """Yield interpreters that might do, the current one first."""
    yield sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    yield from map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3"))


def find_python(candidates: Iterator[str]) -> str:
    """Return the first interpreter that is new enough and can make environments."""
    unfit = ""
    probe = f"import sys; assert sys.version_info >= {OLDEST}; print('new'); import ensurepip, venv"
    for candidate in candidates:
        with contextlib.suppress(OSError):
            tried = subprocess.run([candidate, "-c", probe], capture_output=True, text=True, check=False)
            if tried.returncode == 0:
                return candidate
            if "new" in tried.stdout:
                unfit = unfit or tried.stderr
    if unfit:
        raise failure("Making a virtual environment", unfit)
    wanted = ".".join(map(str, OLDEST))
    raise StepFailed(
        f"No Python {wanted} or newer was found (this is {sys.version.split()[0]}).\n"
        f"Install one, for example: apt-get install python3.11 python3.11-venv. "
        f"If it lies elsewhere: make setup PYTHON=/path/to/python{wanted}"
    )


def stream(step: str, command: list[str], log: Path, seen: Callable[[str], None]) -> None:
    """Run a command, show each line to `seen`, keep all of them in the log."""
    lines: list[str] = []
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        command, stdout=pipe, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment, cwd=ROOT
    )
    with log.open("a") as file, child:
        for line in child.stdout or ():
            file.write(line)
            lines.append(line)
            seen(line)
    if child.returncode != 0:
        raise failure(step, "".join(lines), log)


def package(line: str) -> str | None:
    """Return the package that a line of pip's output is about, if it tells that pip has got it or needs it not."""
    words = line.strip().split(" ")
    if line.startswith("Requirement already satisfied: "):
        named = words[3]
    elif words[0] == "Processing":  # a file, as of a mirror on this machine
        named = words[1].rstrip("/").rpartition("/")[2].partition("-")[0]
    elif words[0] in ("Collecting", "Ignoring") and len(words) > 1:
        named = words[1]
    else:
        return None
    return re.split("[ =:;<>!~[]", named)[0].replace("_", "-").replace(".", "-").lower()


class Counter:
    """Shows how many packages pip has got, and how many of them it has unpacked."""

    def __init__(self, wanted: set[str], site: Path, show: Callable[[str], None]) -> None:
        self._wanted = wanted
        self._site = site
        self._show = show
        self._seen: set[str] = set()
        self._stop = threading.Event()
        self._unpacking: threading.Thread | None = None

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._unpacking is not None:
            self._unpacking.join()

    def __call__(self, line: str) -> None:
        """Read a line of pip's output."""
        name = package(line)
        if name in self._wanted and name not in self._seen:
            self._seen.add(str(name))
            self._show(f"{len(self._seen)} of {len(self._wanted)} packages ({name})")
        elif line.startswith("Installing collected packages: "):
            total = line.count(",") + 1
            self._unpacking = threading.Thread(target=self._watch, args=(total, self._unpacked()), daemon=True)
            self._unpacking.start()

    def _watch(self, total: int, before: int) -> None:
        over = False
        while not over:
            over = self._stop.wait(0.5)
            self._show(f"unpacking, {min(self._unpacked() - before, total)} of {total}")

    def _unpacked(self) -> int:
        """Count what has been unpacked: pip itself says nothing about it."""
        return sum(1 for _ in self._site.glob("*.dist-info"))


def make_venv(python: str, venv: Path) -> None:
    """Make an environment, unless a usable one stands there from an interrupted call."""
    tried = [str(venv / "bin" / "python"), "-m", "pip", "--version"]
    with contextlib.suppress(OSError):
        if subprocess.run(tried, capture_output=True, check=False).returncode == 0:
            return
    shutil.rmtree(venv, ignore_errors=True)
    made = subprocess.run([python, "-m", "venv", str(venv)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        shutil.rmtree(venv, ignore_errors=True)
        raise failure("Making .venv", made.stdout + made.stderr)


def install(venv: Path, kind: str, screen: Screen) -> None:
    """Install the locked packages, each checked by its hash, then this project."""
    lock, log = ROOT / LOCKS[kind], venv / "bootstrap.log"
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
    names = re.findall(r"^([^\s=\[]+)\S*==", lock.read_text(), re.MULTILINE)
    wanted = {name.replace("_", "-").replace(".", "-").lower() for name in names}
    site = next(iter(venv.glob("lib/python*/site-packages")), venv)
    with screen.stage("Installing packages") as show, Counter(wanted, site, show) as counter:
        locked = [*pip, "--require-hashes", "--no-compile", "-r", str(lock)]
        stream("Installing the packages", locked, log, counter)
    with screen.stage("Installing forebay"):
        editable = [*pip, "--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT)]
        stream("Installing forebay", editable, log, lambda _: None)
        store = [str(venv / "bin" / "python"), str(ROOT / "scripts" / "store_bytecode.py")]
        stream("Storing bytecode", store, log, lambda _: None)


def fingerprint(kind: str) -> str:
    """Return what the environment depends on: locked packages, project metadata and place."""
    digest = hashlib.sha256(os.fsencode(ROOT))
    for name in (LOCKS[kind], "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def stamp(venv: Path, kind: str) -> Path:
    return venv / f"stamp-{kind}"


def is_current(venv: Path, kind: str) -> bool:
    """Tell whether the environment was completed for this, or for the developers', and still has a Python."""
    if not (venv / "bin" / "python").exists():
        return False
    return any(
        stamp(venv, made).exists() and stamp(venv, made).read_text() == fingerprint(made) for made in {kind, "dev"}
    )


def build(venv: Path, kind: str) -> None:
    """Bring the environment up to date, stage by stage."""
    screen = Screen(stages=4)
    for made in LOCKS:
        stamp(venv, made).unlink(missing_ok=True)
    with screen.stage(f"Finding Python {OLDEST[0]}.{OLDEST[1]} or newer"):
        python = find_python(pythons())
    with screen.stage("Making .venv"):
        make_venv(python, venv)
    install(venv, kind, screen)
    stamp(venv, kind).write_text(fingerprint(kind))


def main(*arguments: str) -> int:
    """Build the environment if needed; return the exit status."""
    venv, kind = ROOT / ".venv", "dev" if "--dev" in arguments else "runtime"
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not is_current(venv, kind):
            build(venv, kind)
    except StepFailed as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"\n{failure('Writing to ' + str(error.filename or ROOT), str(error))}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; the next call goes on from here.", file=sys.stderr)
        return 130
    finally:
        os.close(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
