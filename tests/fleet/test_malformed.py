"""Runners are not trusted: whatever they send, dispatchers go on."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from forebay import Context, Pipeline
from forebay.engine.submit.results import wait
from forebay.fleet import wire
from forebay.fleet.credits import FleetMembers, StepCredits
from forebay.fleet.jetstream.parts import Parts
from forebay.fleet.port import Beat, InputRequest, Offer, Report, TaskEnd
from forebay.fleet.progress import checked_progress
from tests.fleet._polling import until
from tests.fleet._setups import Fleet, running

if TYPE_CHECKING:
    import asyncpg

    Conn = asyncpg.Connection[Any]

_TOKEN = 2**60 + 1
_END = {"token": str(_TOKEN), "n": 1, "seconds": 0.5, "outcome": {"kind": "done", "result": "1"}}
_HELD = {"id": "1-a:1", "dispatcher": "1-a", "tokens": [str(_TOKEN)], "progress": {"fraction": 0.5}}
_BEAT = {"sender": "r", "is_dispatcher": False, "slots": {"a.b": 4}, "held": [_HELD], "is_last": False}
_REPORT = {"offer": "1-a:1", "dispatcher": "1-a", "runner": "r", "ends": [_END]}

_numbers = (
    st.integers() | st.floats() | st.sampled_from([10**400, -1, 2**63, 2**63 - 1, math.inf, -math.inf, math.nan, 1e308])
)
_json = st.recursive(
    st.none() | st.booleans() | _numbers | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=10,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in _places(each, (*path, key)))]


def _with(value: Any, path: tuple[Any, ...], put: Any) -> Any:
    if not path:
        return put
    changed = value.copy()
    changed[path[0]] = _with(value[path[0]], path[1:], put)
    return changed


def _near(valid: Any) -> st.SearchStrategy[Any]:
    """A valid message with something else in one or two places."""
    one = st.builds(lambda path, put: _with(valid, path, put), st.sampled_from(_places(valid)), _json)
    return one.flatmap(
        lambda m: st.builds(lambda p, put: _with(m, p, put), st.sampled_from(_places(m)), _json) | st.just(m)
    )


def _read(kind: type[Any], message: Any) -> list[Any]:
    """As both adapters read it; nothing if it is refused."""
    found: list[Any] = []
    for decode, data in ((wire.decode_object, message), (wire.decode, json.dumps(message).encode())):
        try:
            found += decode(kind, data)
        except wire.WireError:
            continue
    return found


@given(_near({"v": 1, "m": [_BEAT]}))
def test_a_beat_that_is_not_refused_can_be_handled(message: Any) -> None:
    members, slots = FleetMembers(5), StepCredits()
    for beat in _read(Beat, message):
        members.note(beat)
        slots.slots = members.slots("a.b")
        assert 0 <= slots.value <= 4_000_000
        for held in beat.held:
            assert all(0 <= token < 2**63 for token in held.tokens)
            assert len(held.tokens) > 0
            stored = to_json(checked_progress(held.progress or {})).decode()
            assert not {"NaN", "Infinity", "\\u0000"} & set(stored.split('"'))
            json.loads(stored, parse_constant=pytest.fail)


@given(_near({"v": 1, "m": [_REPORT]}))
def test_a_report_that_is_not_refused_can_be_handled(message: Any) -> None:
    slots = StepCredits()
    slots.slots = 1.0
    for report in _read(Report, message):
        for end in report.ends:
            slots.note_run(end.seconds)
            assert slots.value >= 1
            assert slots.together >= 1
            assert 0 <= end.token < 2**63
            assert 0 <= end.n < 2**31


@given(st.binary(max_size=200))
def test_what_is_not_json_is_refused(data: bytes) -> None:
    for kind in (Beat, Report, InputRequest):
        try:
            assert wire.decode(kind, data) == []
        except wire.WireError:
            continue


@given(
    st.lists(st.tuples(st.text(max_size=12) | st.sampled_from(["n 0 2", "n 1 2", "n 5 1", "n 0 3", "x"]), st.binary()))
)
def test_parts_with_any_header(parts: list[tuple[str, bytes]]) -> None:
    joined = Parts(10)
    for header, data in parts:
        joined.join(data, {"Forebay-Part": header})
    divided = list(Parts(10).divide(b"0123456789" * 3))
    assert [joined.join(data, headers) for data, headers in divided] == [None, None, b"0123456789" * 3]


def test_parts_that_are_never_complete_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forebay.fleet.jetstream.parts._KEEP_BYTES", 1000)
    parts = Parts(100)
    for n in range(50):
        parts.join(b"x" * 100, {"Forebay-Part": f"{n} 0 2"})
    assert parts.join(b"y" * 100, {"Forebay-Part": "0 1 2"}) is None  # its first part is forgotten
    assert parts.join(b"y" * 100, {"Forebay-Part": "49 1 2"}) == b"x" * 100 + b"y" * 100


def test_the_progress_of_a_runner() -> None:
    reported = {"note": "half\0way" + "x" * 300, "fraction": math.nan, "bytesDone": 2.5, "bytesTotal": 10, "other": 1}
    assert checked_progress(reported | {"endsAt": "soon"}) == {
        "note": ("half\N{REPLACEMENT CHARACTER}way" + "x" * 300)[:200],
        "bytesTotal": 10,
    }
    assert checked_progress({"fraction": 0.5, "endsAt": "2026-01-02T03:04:05Z"}) == {
        "fraction": 0.5,
        "endsAt": "2026-01-02T03:04:05Z",
    }


def _hostile(offer: Offer) -> tuple[list[Any], list[Any]]:
    """Beats and reports about an offer, each of which is malformed in its own way."""
    held = {"id": offer.id, "dispatcher": offer.dispatcher, "tokens": [str(offer.tasks[0].token)]}
    beats: list[dict[str, Any]] = [
        {"sender": "x", "held": [held | {"tokens": []}]},
        {"sender": "x", "held": [held | {"tokens": [], "progress": {"fraction": 1}}]},
        {"sender": "x", "held": [held | {"tokens": [str(2**63)]}]},
        {"sender": "x", "slots": {offer.step: 10**400}},
        {"sender": "x", "slots": {offer.step: -5}},
        {"sender": "by hand", "held": [held | {"progress": {"fraction": math.nan, "endsAt": "soon"}}]},
        {"sender": "by hand", "held": [held | {"progress": {"note": "a\0b"}}]},
    ]
    end = {"token": str(offer.tasks[0].token), "n": 1, "seconds": 1, "outcome": {"kind": "done", "result": "1"}}
    report = {"offer": offer.id, "dispatcher": offer.dispatcher, "runner": "x"}
    reports = [
        report | {"ends": []},
        report | {"ends": [end | {"token": str(2**63)}]},
        report | {"ends": [end | {"n": 10**400}]},
        report | {"offer": "", "ends": [end]},
    ]
    return beats, reports


async def test_a_dispatcher_goes_on_after_malformed_messages(
    dsn: str, conn: Conn, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline: Pipeline[Any] = Pipeline("steady", dict)

    @pipeline.step()
    async def step(ctx: Context, value: dict[str, int]) -> int:
        raise AssertionError("the test reports for the runner")

    port = fleet.runner_port()
    async with running(fleet.dispatcher(dsn, pipeline)):
        await port.open("by hand", ["steady.step"])
        try:
            job = await pipeline.submit(conn, {"n": 1})
            offers: list[Offer] = []
            while not offers:
                await port.beat(Beat("by hand", slots={"steady.step": 1}))
                offers += await port.take("steady.step", 1)
            beats, reports = _hostile(offers[0])
            valid = Report(offers[0].id, offers[0].dispatcher, "by hand", (_end_of(offers[0]),))
            for kind, messages in ((Beat, beats), (Report, reports)):
                for message in messages:
                    with monkeypatch.context() as sending:
                        _send_instead(sending, {"v": 1, "m": [message]})
                        await (port.beat(Beat("by hand")) if kind is Beat else port.report([valid]))
            await until(conn, "progress ->> 'note' is not null from forebay.item", seconds=30)
            await port.report([valid])
            assert (await wait(dsn, job.job_id, timeout=30)).done == 1
        finally:
            await port.close()
    assert json.loads(await conn.fetchval("select result from forebay.item")) == {"step": "kept"}


def _end_of(offer: Offer) -> TaskEnd:
    return TaskEnd(offer.tasks[0].token, offer.tasks[0].n, 0.1, {"kind": "done", "result": '"kept"'})


def _send_instead(sending: pytest.MonkeyPatch, message: Any) -> None:
    sending.setattr(wire, "encode", lambda *_: json.dumps(message).encode())
    sending.setattr(wire, "encode_object", lambda *_: message)
    sending.setattr(wire, "encode_report", lambda _: json.dumps(message).encode())
