"""How a pool validates the messages of its children."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from typing import Any

import pytest

from forebay.engine.declare.limited import limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.processes.protocol import BrokenProtocol, Overrun, decode_answer
from forebay.errors import ConfigError, DataError, PermanentError, ResourceError, ThrottledError, TransientError
from forebay.runner import codec, failures, frames
from forebay.types import Done, Unique
from tests.engine import process_steps


def read() -> None:
    """A limited function."""


SANDBOXED, TRUSTED = limited(read), limited(read, sandbox=False)
NEEDING = limited(read, needs=("json", "no_such_package"))
HAVING = limited(read, needs=("json",))


def _raised(callee: Any, error: Exception) -> Exception:
    with pytest.raises(type(error) if callee is TRUSTED else Exception) as raised:
        decode_answer(callee, frames.ERROR, failures.dump(error))
    return raised.value


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ResourceError("the disk is full"), Overrun, "exceeded its limits (ResourceError: the disk is full)"),
        (OSError(errno.ENOSPC, "full"), Overrun, "exceeded its limits (OSError: [Errno 28] full)"),
        (OSError(errno.EMFILE, "many"), Overrun, "exceeded its limits (OSError: [Errno 24] many)"),
        (ConfigError("stop all"), TransientError, "ConfigError: stop all"),
        (ThrottledError("later", retry_after=1e9), TransientError, "ThrottledError: later"),
        (DataError("a bad file"), DataError, "a bad file"),
        (PermanentError("never"), PermanentError, "never"),
        (KeyError("k"), KeyError, "'k'"),
    ],
)
def test_a_sandboxed_process_fails_its_own_task_only(error: Exception, kind: type[Exception], text: str) -> None:
    told = _raised(SANDBOXED, error)
    assert (type(told), str(told)) == (kind, text)
    assert "Error" in str(told.__cause__)  # where it happened
    assert type(_raised(TRUSTED, error)) is type(error)


def test_jobs_that_a_step_in_a_process_submits() -> None:
    pages: Pipeline[str] = Pipeline("pages", str)
    options: Any = {"run_at": datetime(2030, 1, 1, tzinfo=UTC), "meta": {"a": 1}, "key": "k"}
    done = Done(1, submits=[pages.new("a", unique=Unique({"QUEUED"}, 60), **options), pages.new("b")])
    assert decode_answer(process_steps.outcome, frames.RESULT, codec.encode(done)) == done


def test_a_package_is_missing_where_the_worker_sees_so_itself() -> None:
    missing = ConfigError("install it")
    assert type(_raised(NEEDING, missing)) is ConfigError
    assert type(_raised(HAVING, missing)) is TransientError


@pytest.mark.parametrize(
    ("need", "kind"), [("json/scanner.p?", TransientError), ("json/models/*.onnx", ConfigError), ("re/x", ConfigError)]
)
def test_so_are_files_of_a_package(need: str, kind: type[Exception]) -> None:
    """As the models of a package that was installed without them."""
    assert type(_raised(limited(read, needs=(need,)), ConfigError("install it"))) is kind


def test_a_result_may_take_as_much_memory_as_its_function() -> None:
    """A small frame could take much memory of the worker."""
    sent = codec.encode([{"a": n} for n in range(100_000)])
    assert len(decode_answer(limited(read, memory_mb=128), frames.RESULT, sent)) == 100_000
    with pytest.raises(BrokenProtocol, match="it would take more than 32 MB of memory: write it to a file"):
        decode_answer(limited(read, memory_mb=32), frames.RESULT, sent)
