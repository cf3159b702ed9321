"""Submits that come at once: they share statements, and yet each is answered, rejected and owned by itself."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import asyncpg
import pytest

from forebay.api.submit.batches import SubmitBatches
from forebay.engine.submit.options import CheckedOptions, Coalescing
from forebay.engine.submit.producer import item_arguments
from forebay.identity import session_context
from tests.api._service import Page, Service, pages

MANY = 40

_SAVED = """
select o.name as owner, j.id, i.input, host(j.ip) as ip, j.priority, j.key, j.xmin::text as xmin,
       (select count(*) from forebay.ready r where r.job_id = j.id and r.owner_id = j.owner_id) as ready
from forebay.job j join forebay.owner o on o.id = j.owner_id
join forebay.item i on i.job_id = j.id and i.owner_id = j.owner_id
"""


async def submit_at_once(service: Service, who: str, bodies: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The statuses and answers, in the order of the requests."""
    async with service.client(who) as client:
        answers = await asyncio.gather(
            *(client.post("/api/jobs", json={"pipeline": "pages"} | body) for body in bodies)
        )
    return [(answer.status_code, answer.json()) for answer in answers]


async def test_each_has_its_own_job_and_its_own_owner(service: Service) -> None:
    titles = {who: [f"{who} {n}" for n in range(MANY)] for who in ("ann", "bob")}
    answers = await asyncio.gather(
        *(
            submit_at_once(
                service, who, [{"input": {"title": title}, "priority": n % 2} for n, title in enumerate(own)]
            )
            for who, own in titles.items()
        )
    )
    assert Counter(status for each in answers for status, _ in each) == {201: 2 * MANY}
    saved = {row["id"]: row for row in await service.admin.fetch(_SAVED)}
    for (who, own), each in zip(titles.items(), answers, strict=True):
        for n, (title, (_, answer)) in enumerate(zip(own, each, strict=True)):
            row = saved.pop(int(answer["jobId"]))
            assert (answer["created"], answer["items"]) == (True, 1)
            assert (row["owner"], json.loads(row["input"])) == (who, {"title": title, "size": 0})
            assert (row["ip"], row["priority"], row["ready"]) == ("192.0.2.7", n % 2, 1)
    assert saved == {}


async def test_they_share_transactions_when_they_come_at_once(service: Service) -> None:
    """While a statement waits for the table, the others come together."""
    await service.admin.execute("begin; lock table forebay.item in exclusive mode")
    submitting = asyncio.create_task(
        submit_at_once(service, "ann", [{"input": {"title": str(n)}} for n in range(MANY)])
    )
    submits: SubmitBatches = service.app.state.submits
    async with asyncio.timeout(20):
        while sum(len(group._waiting) for group in submits._groups.values()) < MANY - 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await service.admin.execute("commit")
    assert {status for status, _ in await submitting} == {201}
    by_transaction = Counter(row["xmin"] for row in await service.admin.fetch(_SAVED))
    assert sorted(by_transaction.values()) == [1, 1, MANY - 2]


async def test_a_rejected_one_rejects_no_other(service: Service) -> None:
    await service.admin.execute("update forebay.pipeline set max_input_bytes = 60 where name = 'pages'")
    bodies = [{"input": {"title": "x" * (100 if n % 10 == 7 else 10)}} for n in range(MANY)]
    answers = await submit_at_once(service, "ann", bodies)
    assert [status for status, _ in answers] == [413 if n % 10 == 7 else 201 for n in range(MANY)]
    detail = "input: has 124 bytes; the pipeline takes at most 60"
    assert {answer["detail"] for status, answer in answers if status == 413} == {detail}
    assert await service.admin.fetchval("select count(*) from forebay.job") == MANY * 9 // 10


async def test_those_with_options_go_alone(service: Service) -> None:
    bodies: list[dict[str, Any]] = [{"input": {"title": "x"}, "key": f"k{n % 4}"} for n in range(8)]
    bodies += [{"input": {"title": "x"}, "meta": {"n": 1}}, {"input": {"title": "x"}, "runAt": "2030-01-01T00:00:00Z"}]
    answers = await submit_at_once(service, "ann", bodies)
    assert Counter(status for status, _ in answers) == {201: 6, 200: 4}
    rows = await service.admin.fetch(_SAVED)
    assert Counter(row["key"] for row in rows) == {"k0": 1, "k1": 1, "k2": 1, "k3": 1, None: 2}


async def test_what_may_have_been_saved_is_not_sent_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that is lost during a commit does not tell what became of it."""
    sent: list[int] = []

    async def lost(*_: Any) -> list[int]:
        sent.append(1)
        raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

    monkeypatch.setattr(session_context, "submit_jobs_for", lost)
    answers = await submit_at_once(service, "ann", [{"input": {"title": "x"}}] * MANY)
    statuses = Counter(status for status, _ in answers)
    assert statuses[201] + statuses[503] == MANY
    assert sent
    assert await service.admin.fetchval("select count(*) from forebay.job") == statuses[201]


async def test_an_owner_can_write_for_nobody_else(service: Service) -> None:
    """The name and the id must belong together, and row-level security holds for the statement that many share."""
    ids = dict(await service.admin.fetch("select name, id from forebay.owner"))
    pool = service.app.state.pools.owners
    with pytest.raises(Exception, match="owner: must have 1 to 200 characters"):
        await session_context.submit_jobs_for(pool, ids["ann"], None, "pages", "bob", 0, ["{}", "{}"])
    args = item_arguments(pages, Page(title="x"), Coalescing(), CheckedOptions.checked(owner="bob"))
    with pytest.raises(Exception, match="owner: must have 1 to 200 characters"):
        await session_context.submit_for(pool, ids["ann"], None, args)
    await service.admin.execute("revoke insert on forebay.ready from forebay_api")
    ((status, problem),) = await submit_at_once(service, "ann", [{"input": {"title": "x"}}])
    assert (status, problem["detail"]) == (500, "internal error; it has been logged")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await session_context.submit_jobs_for(pool, ids["ann"], None, "pages", "ann", 0, ["{}", "{}"])


async def test_callers_who_come_at_once_are_told_apart(service: Service) -> None:
    """Tokens that are looked up together: each finds its own account, and a wrong one finds none."""
    service.tokens["wrong"] = service.tokens["ann"] + "x"
    callers = ("ann", "bob", "wrong", "root") * 10

    async def ask(who: str) -> str:
        async with service.client(who) as client:
            return str((await client.get("/api/me")).json().get("name"))

    assert await asyncio.gather(*map(ask, callers)) == [who if who != "wrong" else "None" for who in callers]
    used = await service.admin.fetchval("select count(*) from forebay.api_token where used_at is not null")
    assert used == 3
