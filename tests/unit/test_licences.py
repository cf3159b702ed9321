"""Licences that require more than a notice need a documented reason."""

from __future__ import annotations

import json

import pytest

from scripts.licences import REVIEWED, SBOM, Package, complaints, locked


@pytest.mark.parametrize(
    ("licence", "is_permissive"),
    [
        ("MIT", True),
        ("Apache-2.0 AND BSD-3-Clause", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND MPL-2.0", False),
        ("(MIT OR GPL-2.0-only) AND MPL-2.0", False),
        ("MIT-like, ask us", False),
        ("unknown", False),
    ],
)
def test_which_are_permissive(licence: str, is_permissive: bool) -> None:
    assert Package("x", "1", licence, is_shipped=True).is_permissive == is_permissive


def test_a_new_package_is_looked_at() -> None:
    reviewed = [Package(name, "1", "MPL-2.0", is_shipped=True) for name in REVIEWED]
    assert complaints(reviewed) == []
    (told,) = complaints([*reviewed, Package("newcomer", "1", "AGPL-3.0-only", is_shipped=True)])
    assert told.startswith("newcomer 1 has the licence 'AGPL-3.0-only': give a reason")
    (told,) = complaints([each for each in reviewed if each.name != "tld"])
    assert told == "REVIEWED names tld, which needs no review"


def test_the_bill_of_materials_has_what_is_locked() -> None:
    components = json.loads(SBOM.read_text("utf-8"))["components"]
    assert {each["name"]: each["version"] for each in components} == locked()
