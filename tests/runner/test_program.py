"""Programs: what they receive, what they leave behind, and how they end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import cast

import psutil
import pytest

from forebay.errors import ConfigError, DataError, TransientError
from forebay.runner import availability
from forebay.runner.availability import Available, sandbox_for
from forebay.runner.guard import watched_folders
from forebay.runner.launch import _counts_alone
from forebay.runner.process import GuardedCommand, GuardedProcess
from forebay.runner.program import ProgramLimits, _command, run_program
from forebay.runner.spec import ResourceLimits, Sandbox, Spec
from forebay.services.browser.process import BrowserProcess
from forebay.services.egress import Egress
from forebay.settings import Settings

pytestmark = pytest.mark.skipif(availability.available().method is None, reason=availability.available().because)
NO_CONFINEMENT = (
    "{} may use the network only through the egress proxy, which cannot be enforced here: unset "
    "FOREBAY_EGRESS_CONFINE and allow user namespaces, or accept this with FOREBAY_SANDBOX=preferred"
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    (tmp_path / "output").mkdir()
    return tmp_path / "output"


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_program_reads_writes_and_tells(tmp_path: Path, output: Path) -> None:
    (tmp_path / "private").write_text("hello\n")
    (tmp_path / "private").chmod(0o600)
    script = (
        'cat "$0/a.txt"; printf "10%%\\r20%%\\n"; echo x > "$1/made"; ln -s /etc/shadow "$1/link"; echo "$KEY"; exit 3'
    )
    lines: list[str] = []
    done = await run_program(
        ["sh", "-c", script, "@INPUTS@", "@OUTPUT@"],
        inputs={"a.txt": tmp_path / "private"},
        output=output,
        environment={"KEY": "value"},
        on_line=lines.append,
    )
    assert (done.status, done.files) == (3, [output / "made"])
    assert lines == ["hello", "10%", "20%", "value"]
    assert _names(output) == ["made"]  # links that could mislead us are gone
    assert (output / "made").stat().st_uid == os.geteuid()


@pytest.mark.parametrize(
    ("script", "limits", "words"),
    [
        ("sleep 60", {"timeout": 0.5}, "sh timed out after 0.5 s"),
        ("while :; do :; done", {"cpu_s": 0.3}, "sh needed more than 0.3 s of CPU time"),
        ('while :; do i=$((i+1)); head -c 1000000 /dev/zero > "$1/$i"; done', {"output_mb": 5}, "sh wrote more files"),
        ('while :; do i=$((i+1)); mkdir "$1/$i"; done', {"output_mb": 2}, "sh wrote more files"),
        (
            'exec 3> "$1/x"; rm "$1/x"; head -c 8000000 /dev/zero >&3; sleep 60',
            {"output_mb": 5},
            "sh wrote more files",
        ),
        ('head -c 3000000 /dev/zero > "$1/large"', {"file_mb": 1}, "sh wrote a file of more than 1 MB"),
        ("yes", {"printed_mb": 1}, "sh printed more than allowed"),
        ("kill -9 $$", {}, "sh was killed by SIGKILL"),
    ],
)
async def test_limits_end_a_program(script: str, limits: dict[str, float], words: str, output: Path) -> None:
    given = ProgramLimits(**limits)  # type: ignore[arg-type]
    with pytest.raises(TransientError, match=words):
        await run_program(["sh", "-c", script, "sh", "@OUTPUT@"], output=output, limits=given)


async def test_a_cancelled_program_is_gone() -> None:
    task = asyncio.create_task(run_program(["sh", "-c", "echo; sleep 600"], on_line=lambda _: None))
    before = set(psutil.Process().children())
    while not any("sleep 600" in " ".join(each.cmdline()) for each in psutil.Process().children()):  # noqa: ASYNC110
        await asyncio.sleep(0.005)  # processes tell nobody when they begin
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(psutil.Process().children()) <= before


async def test_what_cannot_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no-such-program is not installed"):
        await run_program(["no-such-program"])
    with pytest.raises(DataError, match=r"'\.\./x' is not a file name"):
        await run_program(["true"], inputs={"../x": tmp_path})
    with pytest.raises(ConfigError) as refused:
        await run_program(["true"], network="host")
    assert str(refused.value) == NO_CONFINEMENT.format("true")


async def test_a_browser_that_must_be_sandboxed_does_not_get_the_network_of_the_machine() -> None:
    settings = Settings.model_construct(sandbox="required")
    browser = BrowserProcess(settings, cast("Egress", _Unconfined()), "/bin/true", sandboxed=True)
    with pytest.raises(ConfigError) as refused:
        await browser.start()
    assert str(refused.value) == NO_CONFINEMENT.format("Chromium")


class _Unconfined:
    def network(self, *, walled: bool) -> str:
        return "host"


async def test_a_process_that_cannot_be_started_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process = GuardedProcess(
        GuardedCommand("absent", ResourceLimits(64), argv=("/bin/true",), python=["/absent/python"])
    )
    with pytest.raises(FileNotFoundError):
        process.start()
    assert _names(tmp_path) == []


# -- machines without a sandbox -----------------------------------------------------------------------------------


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "available", lambda: Available(None, "", None, "the kernel says no"))


@pytest.mark.usefixtures("forbidden")
async def test_what_requires_a_sandbox_does_not_run_without() -> None:
    with pytest.raises(ConfigError, match=r"true needs a sandbox.*the kernel says no.*FOREBAY_SANDBOX=preferred"):
        await run_program(["true"])


@pytest.mark.usefixtures("forbidden")
async def test_what_prefers_one_runs_with_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its environment is clean, its system calls are filtered, and as root it has another account if possible."""
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "secret")
    (tmp_path / "a").write_text("given\n")
    lines: list[str] = []
    argv = ["sh", "-c", 'cat "$0/a"; env; grep Seccomp: /proc/self/status', "@INPUTS@"]
    await run_program(argv, mode="preferred", inputs={"a": tmp_path / "a"}, on_line=lines.append)
    assert lines[0] == "given"
    assert not [line for line in lines if "secret" in line]
    assert lines[-1].split() == ["Seccomp:", "2" if not availability.gaps() else "0"]
    assert sandbox_for("off", "it", scratch_mb=1) is None


async def test_files_that_cannot_be_named_are_the_fault_of_the_program(output: Path) -> None:
    script = (
        'cd "$1"; n=0; d=$(printf "%0200d" 0); while [ $n -lt 30 ]; do mkdir $d && cd $d || exit 1; n=$((n+1)); done'
    )
    with pytest.raises(DataError) as refused:
        await run_program(["sh", "-c", script, "sh", "@OUTPUT@"], output=output)
    assert str(refused.value) == "the files that it left cannot be read: File name too long"


def test_without_walls_a_program_has_no_network_but_limits() -> None:
    bare = Sandbox("process", [], 16, None)
    made = _command(("/bin/true",), bare, "none", None, None, ProgramLimits()).sandbox
    assert made is not None
    assert made.network == "none"
    assert not _counts_alone(bare)  # all processes of our account would count
    spec = Spec(3, 1, [], ResourceLimits(64), folder="/run/x", watched="/output", watched_mb=5, sandbox=bare)
    assert list(watched_folders(spec)) == [("/output", 5), ("/run/x/home", 16)]
