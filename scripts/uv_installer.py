"""uv as the installer of `bootstrap.py`: where it comes from, and pip's settings in its words.

uv installs the same packages in a third of pip's time. pip, from the wheel that every Python brings for its virtual
environments, fetches it: the version that `requirements.lock` pins, checked by its hash. Uses the standard library
only, and syntax that an old Python still parses.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Prints the wheel of pip that a Python brings: Debian and Fedora keep it in a folder of their own.
FIND_PIP = """
import ensurepip, pathlib, sysconfig
folders = [pathlib.Path(ensurepip.__file__).parent / "_bundled", sysconfig.get_config_var("WHEEL_PKG_DIR")]
print(*[wheel for folder in folders if folder for wheel in sorted(pathlib.Path(folder).glob("pip-*.whl"))][:1])
"""


def pinned(lock: str) -> str:
    """Return the lines of a lock file that pin uv, with its hashes."""
    found = re.search(r"^uv==\S+(?: \\\n +--hash=\S+)+\n", lock, re.MULTILINE)
    return found[0] if found else ""


def pip_settings(environ: Mapping[str, str], python_prefix: str = sys.prefix) -> dict[str, str]:
    """Return pip's settings for installing: from its files, the last one wins, and from the environment."""
    home = Path(environ.get("HOME", "/nonexistent"))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = [Path(folder, "pip", "pip.conf") for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
    files = [*shared, Path("/etc/pip.conf"), home / ".pip/pip.conf", config / "pip/pip.conf"]
    files.append(Path(python_prefix, "pip.conf"))
    named = environ.get("PIP_CONFIG_FILE")
    if named:
        files = [] if named == os.devnull else [*files, Path(named)]
    parser = configparser.RawConfigParser(strict=False)
    parser.read(files, encoding="utf-8")
    settings: dict[str, str] = {}
    for section in ("global", "install"):
        if parser.has_section(section):
            settings.update((name.replace("_", "-"), value) for name, value in parser.items(section))
    for name, value in environ.items():
        if name.startswith("PIP_"):
            settings[name[4:].lower().replace("_", "-")] = value
    return settings


def options(settings: Mapping[str, str]) -> list[str]:
    """Return the options of `uv pip install` that mean what pip's settings mean; addresses are in `environment`."""
    found: list[str] = []
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        found.append("--no-index")
    # As pip does: the indexes are equal. The hashes of the lock say which files may come from them.
    return [*found, "--index-strategy", "unsafe-best-match"]


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that mean what the rest of pip's settings means.

    The addresses of indexes may have passwords in them, and everyone on the machine can read command lines.
    """
    variables = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1"}
    for name, variable, separator in (
        ("index-url", "UV_DEFAULT_INDEX", " "),
        ("extra-index-url", "UV_INDEX", " "),
        ("find-links", "UV_FIND_LINKS", ","),
        ("trusted-host", "UV_INSECURE_HOST", " "),
    ):
        if settings.get(name):
            variables[variable] = separator.join(settings[name].split())
    if settings.get("cert"):
        variables["SSL_CERT_FILE"] = settings["cert"]
    if settings.get("timeout") or settings.get("default-timeout"):
        variables["UV_HTTP_TIMEOUT"] = settings.get("timeout") or settings["default-timeout"]
    if settings.get("proxy"):
        variables.update(dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), settings["proxy"]))
    return variables
