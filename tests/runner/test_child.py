"""How a child handles the files of a call."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import OutputFile, limited
from forebay.engine.processes.protocol import EncodedCall
from forebay.runner import availability, child, frames, progress
from forebay.runner.availability import Available
from tests.engine.process_steps import NoHost


def write(target: Path) -> str:
    target.write_text("written")
    return str(target.parent)


@pytest.mark.parametrize("is_proc_there", [True, False])
def test_output_files_are_written_with_and_without_proc(
    is_proc_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers that hide parts of /proc do not allow a sandbox to mount it."""
    target = tmp_path / "target"
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr(progress, "_reporter", None)  # what a child sets in its own process is taken back
    if not is_proc_there:
        monkeypatch.setattr(child, "_OPEN_FILES", "/absent/fd")
    parcel = EncodedCall(limited(write), Context(1, 1, 1, "s", 1, 1, NoHost()), (OutputFile(target),), {}, 1 << 20)
    ours, theirs = socket.socketpair()
    hello = frames.Hello([], "", [], __name__, None, __file__, "write", "write", 1 << 20, "")
    with ours, theirs, target.open("wb+") as opened:
        worker = child._FunctionServer(frames.Channel(theirs), theirs, hello)
        assert worker.load_function()
        socket.send_fds(ours, [b"f"], [opened.fileno()])
        worker._take_files({"inputs": [], "outputs": 1})
        kind, body = worker._answer(parcel.body)
        worker._clean_up()
    assert (kind, target.read_text()) == (frames.RESULT, "written")
    assert (b"/proc/self/fd" in body) == is_proc_there


def test_a_sandbox_without_proc_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "available", lambda: Available("namespaces", "", None, "for this test"))
    monkeypatch.setattr(availability, "_tried", lambda *_: "it ended with 1")
    assert availability.gaps()[-1] == (
        "a sandbox has no /proc, because parts of this container's /proc are hidden: files that functions write must "
        "fit into their scratch space (scratch_mb)"
    )


def test_what_a_call_left_is_deleted_but_nothing_that_is_mounted_there_is_searched(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    (tmp_path / "left" / "deep").mkdir(parents=True)
    (tmp_path / "left" / "deep" / "file").touch()
    (tmp_path / "file").touch()
    outside = tmp_path.with_name("outside")
    outside.mkdir()
    (outside / "kept").touch()
    (tmp_path / "link").symlink_to(outside)
    child.delete_own(str(tmp_path), device + 1)  # as if its folders were mounted
    assert [path.name for path in tmp_path.iterdir()] == ["left"]
    assert (tmp_path / "left" / "deep" / "file").exists()
    child.delete_own(str(tmp_path), device)
    assert not list(tmp_path.iterdir())
    assert (outside / "kept").exists()


def test_a_folder_that_cannot_be_emptied_ends_the_process(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="absent"):
        child.delete_own(str(tmp_path / "absent"), 0)
