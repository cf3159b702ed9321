"""Installs Chromium for `forebay up` where that is possible; a failure does not stop the start."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from forebay.cli._stages import stage
from forebay.services.browser import INSTALL, find_browser
from forebay.services.browser.executable import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from forebay.settings import Settings

_WITHIN = 600.0
_OPTIONS = ("-o", "DPkg::Lock::Timeout=60", "-o", "Acquire::Retries=2", "-qq")


def install_chromium(settings: Settings, out: Console) -> None:
    """Install Chromium if it is missing and this account may use apt-get; print the result."""
    if not settings.browser_install or find_browser(settings) is not None:
        return
    apt = _apt()
    if apt is None:
        out.print(f"Screenshots: Chromium is not installed. On Debian or Ubuntu: {INSTALL}", soft_wrap=True)
        return
    with stage(out, "Chromium for screenshots") as now:
        failed = _installed(apt, now.say)
        now.result = f"not installed ({failed}); everything else works. Later: {INSTALL}" if failed else "installed"


def _apt() -> list[str] | None:
    """The command with which this account can install packages without a prompt."""
    apt = shutil.which("apt-get")
    if apt is None:
        return None
    if os.geteuid() == 0:
        return [apt]
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    allowed = subprocess.run([sudo, "-n", "-l", apt], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return [sudo, "-n", apt] if allowed.returncode == 0 else None


def _installed(apt: list[str], say: Callable[[str], None]) -> str:
    """Install Chromium; return the reason if it failed, else an empty text."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    package = [*apt, *_OPTIONS, "install", "-y", "--no-install-recommends", PACKAGE]
    last = ""
    for words, command in (
        ("installing", package),
        ("reading the lists", [*apt, *_OPTIONS, "update"]),
        ("installing", package),
    ):
        say(words)
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=_WITHIN,
                env=environment,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode == 0 and command is package:
            return ""
        last = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2][:200]
    return last or "apt-get failed"
