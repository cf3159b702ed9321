"""A token that is rejected is replaced once for each file, and nothing is kept of files that have ended."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import DataError, StepError, ThrottledError, TransientError
from forebay.pipelines.attachments import fetching
from forebay.pipelines.attachments.fetching import SenderFiles, Wanted
from forebay.pipelines.attachments.lark_errors import TokenRejected
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.services.download.resuming import Downloaded

REJECTED, WAITS = TokenRejected("401"), ThrottledError("later", retry_after=1.0)
DONE = Downloaded(Path("a"), 3, "ab", "https://files.test/a", {})


class Source:
    """A sender whose token can be replaced."""

    name, renewals = "lark", 0

    def renew(self) -> bool:
        self.renewals += 1
        return True


class Task:
    def __init__(self, number: int) -> None:
        self.id = number


class PlannedFiles(SenderFiles):
    """Each request ends as planned."""

    def __init__(self, plan: Iterator[StepError | None]) -> None:
        self.source = Source()
        given: Any = self.source
        unused: Any = None
        super().__init__(given, unused, lambda call: call, AttachmentsSettings())
        self._plan = plan

    async def _attempt(self, wanted: Wanted) -> Downloaded:
        if (error := next(self._plan)) is not None:
            raise error
        return DONE

    async def end(self, number: int = 1) -> type[StepError] | None:
        task: Any = Task(number)
        unused: Any = None
        try:
            await self._download(Wanted(task, False, unused, None))
        except StepError as error:
            return type(error)
        return None

    @property
    def kept(self) -> list[int]:
        return list(self._renewed)


@pytest.mark.parametrize(
    "second", [None, REJECTED, TransientError("500"), DataError("another hash")], ids=lambda each: type(each).__name__
)
async def test_a_file_that_has_ended_is_forgotten(second: StepError | None) -> None:
    files = PlannedFiles(iter([REJECTED, second]))
    assert await files.end() == (None if second is None else type(second))
    assert (files.kept, files.source.renewals) == ([], 1)


async def test_a_file_that_waits_gets_no_second_token() -> None:
    files = PlannedFiles(iter([REJECTED, WAITS, WAITS, REJECTED]))
    assert [await files.end(), files.kept] == [ThrottledError, [1]]
    assert [await files.end(), files.kept] == [ThrottledError, [1]]
    assert [await files.end(), files.kept] == [TokenRejected, []]
    assert files.source.renewals == 1


async def test_files_that_never_come_back_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_MOST_RENEWED", 3)
    files = PlannedFiles(cycle([REJECTED, WAITS]))
    for number in range(10):
        await files.end(number)
    assert files.kept == [7, 8, 9]
