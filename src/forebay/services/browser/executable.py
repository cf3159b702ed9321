"""Finds Chromium on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.errors import ConfigError

if TYPE_CHECKING:
    from forebay.settings import Settings

PACKAGE = "chromium-headless-shell"
INSTALL = f"apt-get install --no-install-recommends {PACKAGE}"
_NAMES = (
    PACKAGE,
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
_PLACES = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def find_browser(settings: Settings) -> str | None:
    """The Chromium to use: the configured one, or the first that is found; the headless shell first."""
    if settings.browser_path:
        return shutil.which(os.fspath(settings.browser_path))
    on_path = map(shutil.which, _NAMES)
    found = next(filter(None, on_path), None) or next(filter(_is_program, _PLACES), None)
    return found if found is None else _behind_script(found)


def require_browser(settings: Settings) -> str:
    """The same.

    Raises:
        ConfigError: there is none; the message names the command that installs it.
    """
    found = find_browser(settings)
    if found:
        return found
    if settings.browser_path:
        raise ConfigError(f"FOREBAY_BROWSER_PATH is {settings.browser_path}, which is not a program: fix or unset it")
    raise ConfigError(f"Chromium is not installed; on Debian or Ubuntu: {INSTALL}")


def _is_program(path: str) -> bool:
    return os.access(path, os.X_OK) and Path(path).is_file()


def _behind_script(found: str) -> str:
    """Debian's command is a shell script that waits for the program; calling the program saves a process."""
    real = f"/usr/lib/chromium/{Path(found).name}"
    return real if found == f"/usr/bin/{Path(found).name}" and _is_program(real) else found
