"""Make ``.venv`` and install this project into it, with what it needs to run; ``--dev``: with the developers' tools.

The packages are those of ``requirements.runtime.lock``, a part of ``requirements.lock``. uv installs them, or pip where
uv cannot be had. Uses the standard library only, and syntax that an old Python still parses, so that it can say what is
missing. A stamp makes every later call instant; a lock lets two calls at once share the work.
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

    from scripts import uv_installer
else:
    import uv_installer  # which lies beside this file

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NEWEST = (3, 16)
LOCKS = {"runtime": "requirements.runtime.lock", "dev": "requirements.lock"}

_UNREACHABLE = (
    r"NewConnectionError|name resolution|Network is unreachable|ConnectTimeout|Read timed out"
    r"|Connection refused|ProxyError|Max retries exceeded|error sending request|dns error"
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


def stream(
    step: str, command: list[str], log: Path, seen: Callable[[str], None], variables: dict[str, str] | None = None
) -> None:
    """Run a command, show each line to `seen`, keep all of them in the log."""
    lines: list[str] = []
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUNBUFFERED": "1", **(variables or {})}
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
    """Shows how many packages pip has got, and how many of them it has unpacked; or what uv downloads."""

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
        """Read a line of the installer's output."""
        name = package(line)
        if line.startswith(("Resolved ", "Downloading ")):  # uv's
            self._show(line.strip())
        elif name in self._wanted and name not in self._seen:
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


def works(command: list[str]) -> bool:
    """Tell whether a command can be run, and succeeds."""
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def make_venv(python: str, venv: Path) -> None:
    """Make an environment, unless a usable one stands there from an interrupted call. The installer adds pip."""
    if works([str(venv / "bin" / "python"), "-c", ""]):
        return
    shutil.rmtree(venv, ignore_errors=True)
    command = [python, "-m", "venv", "--without-pip", str(venv)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        shutil.rmtree(venv, ignore_errors=True)
        raise failure("Making .venv", made.stdout + made.stderr)


def nothing(_: str) -> None:
    """Show nothing of a command's output."""


class Installer:
    """Installs packages into an environment, by uv or by pip."""

    def __init__(self, venv: Path, site: Path, log: Path) -> None:
        self._python, self._site, self._log = str(venv / "bin" / "python"), site, log
        self._uv = venv / "uv"
        self._command: list[str] = []
        self._variables: dict[str, str] = {}

    def prepare(self) -> None:
        """Choose uv if it is there or can be had, else pip.

        Raises: StepFailed when neither can be had, or the package index cannot be reached.
        """
        wheel = self._bundled_pip()
        if wheel and self._has_uv(wheel):
            settings = uv_installer.pip_settings(os.environ)
            self._variables = uv_installer.environment(settings)
            uv = [str(self._uv / "bin" / "uv"), "pip", "install", "--python", self._python]
            if not any(self._site.glob("pip-*.dist-info")):  # as in other environments, for what its owner adds
                stream("Installing pip", [*uv, "--offline", "--no-deps", wheel], self._log, nothing, self._variables)
            self._command = [*uv, *uv_installer.options(settings)]
        else:
            self.use_pip()

    @property
    def is_uv(self) -> bool:
        """Whether uv was chosen."""
        return bool(self._variables)

    def use_pip(self) -> None:
        """Install with pip from now on."""
        if not works([self._python, "-m", "pip", "--version"]):
            stream("Installing pip", [self._python, "-m", "ensurepip", "--default-pip"], self._log, nothing)
        quiet = ["--no-input", "--no-compile", "--progress-bar", "off"]
        self._command, self._variables = [self._python, "-m", "pip", "install", *quiet], {}

    def install(self, step: str, arguments: list[str], seen: Callable[[str], None] = nothing) -> None:
        """Install what the arguments say, which are the same for both."""
        stream(step, [*self._command, *arguments], self._log, seen, self._variables)

    def _bundled_pip(self) -> str:
        command = [self._python, "-c", uv_installer.FIND_PIP]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    def _has_uv(self, wheel: str) -> bool:
        """Fetch uv unless it is there."""
        pinned = uv_installer.pinned((ROOT / LOCKS["dev"]).read_text())
        requirement = self._uv / "requirement.txt"
        if not pinned:
            return False
        if requirement.exists() and requirement.read_text() == pinned and works([str(self._uv / "bin" / "uv"), "-V"]):
            return True
        shutil.rmtree(self._uv, ignore_errors=True)
        self._uv.mkdir()
        requirement.write_text(pinned)
        pip = [self._python, f"{wheel}/pip", "install", "--no-input", "--no-compile", "--progress-bar", "off"]
        try:
            command = [*pip, "--require-hashes", "--no-deps", "--target", str(self._uv), "-r", str(requirement)]
            stream("Fetching uv", command, self._log, nothing)
        except StepFailed as error:
            if re.search(_UNREACHABLE, str(error)):
                raise
            return False
        return True


def install(venv: Path, kind: str, screen: Screen) -> None:
    """Install the locked packages, each checked by its hash, then this project."""
    lock, log = ROOT / LOCKS[kind], venv / "bootstrap.log"
    names = re.findall(r"^([^\s=\[]+)\S*==", lock.read_text(), re.MULTILINE)
    wanted = {name.replace("_", "-").replace(".", "-").lower() for name in names}
    site = next(iter(venv.glob("lib/python*/site-packages")), venv)
    installer = Installer(venv, site, log)
    with screen.stage("Installing packages") as show, Counter(wanted, site, show) as counter:
        show("fetching the installer")
        installer.prepare()
        locked = ["--require-hashes", "-r", str(lock)]
        try:
            installer.install("Installing the packages", locked, counter)
        except StepFailed:
            if not installer.is_uv:
                raise
            installer.use_pip()  # which knows more kinds of indexes and of credentials, and says what is wrong
            installer.install("Installing the packages", locked, counter)
    with screen.stage("Installing forebay"):
        installer.install("Installing forebay", ["--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT)])
        store = [str(venv / "bin" / "python"), str(ROOT / "scripts" / "store_bytecode.py")]
        stream("Storing bytecode", store, log, nothing)


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
