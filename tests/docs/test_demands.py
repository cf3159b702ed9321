"""The table of demands: a claim without a test, or a test without a demand, is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import demands as script
from tests.docs._blocks import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one demand in each state, all of them as they should be."""
    for folder in ("scripts", "tests", "bench", "docs/reference", "docs/decisions"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "scripts" / "demands.csv").write_text(
        "id,text,state,note\n"
        "S1-01,Downloads,planned,media\nS1-02,Retries,,\nS1-03,Bytes,partly,no bytes\nS1-04,One row,otherwise,0001\n"
    )
    (tmp_path / "tests" / "test_retries.py").write_text("# demands: S1-02, S1-03\n# demands: S1-04\n")
    (tmp_path / "docs" / "decisions" / "0001-batches.md").write_text("# Batches\n")
    return tmp_path


def test_the_page_has_every_state_and_where(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["demands.py"])
    assert script.main(project) == 0
    page = (project / "docs" / "reference" / "demands.md").read_text("utf-8")
    assert "| S1-01 | Downloads | planned: media |  |" in page
    assert "| S1-02 | Retries | met | `tests/test_retries.py` |" in page
    assert "| S1-03 | Bytes | partly: no bytes | `tests/test_retries.py` |" in page
    assert "| [decision 1](../decisions/0001-batches.md), `tests/test_retries.py` |" in page
    assert "| **all** | 1 | 1 | 1 | 1 | 4 |" in page
    monkeypatch.setattr("sys.argv", ["demands.py", "--check"])
    assert script.main(project) == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (
            "tests/test_retries.py",
            "S1-02, ",
            "",
            "no test names S1-02: add it to a line `# demands:`, or change its state",
        ),
        (
            "tests/test_retries.py",
            "S1-02",
            "S9-99",
            "tests/test_retries.py: there is no demand S9-99 in scripts/demands.csv",
        ),
        (
            "tests/test_retries.py",
            "S1-02",
            "S1-01",
            "S1-01 is planned by scripts/demands.csv; remove that, or the claim",
        ),
        ("scripts/demands.csv", "0001", "0002", "S1-04 names decision 0002, which is not in docs/decisions"),
        ("scripts/demands.csv", "no bytes", "", "S1-03 is partly and needs a note"),
        ("scripts/demands.csv", "partly", "nearly", "S1-03 has the state nearly; it must be one of met, partly,"),
    ],
)
def test_what_contradicts_itself_is_told(
    project: Path, file: str, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / file
    path.write_text(path.read_text("utf-8").replace(old, new))
    assert script.main(project) == 1
    assert said in capsys.readouterr().out


def test_a_stale_page_is_noticed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["demands.py", "--check"])
    assert script.main(project) == 1
    said = capsys.readouterr().out
    assert said.endswith("demands.md is out of date: run `make reference`\n")


def test_there_are_all_demands_of_the_documents() -> None:
    listed = script.demands(ROOT)
    counted = {source: len([each for each in listed if each.source == source]) for source in script.SOURCES}
    assert counted == {"S1": 125, "S2": 104, "S3": 100, "S4": 129, "S5": 180, "X": 10}
