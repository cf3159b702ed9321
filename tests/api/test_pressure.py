"""What is too much: bodies, uploads, and more requests at once than there are connections. Reading goes on."""

# demands: S1-113, S1-115, S5-136, X-06

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from starlette.types import Message
from structlog.testing import capture_logs

from forebay.api.write_slots import WriteSlots
from forebay.db.role_pool import RolePool
from tests.api._service import Service, serving

ONE = {"pipeline": "pages", "input": {"title": "x"}}


def form(data: bytes, name: str = "rows.jsonl", kind: str = "") -> dict[str, Any]:
    return {"data": {"pipeline": "pages"}, "files": {"file": (name, data, kind)}}


def rows(count: int) -> bytes:
    return b"".join(b'{"title": "%d"}\n' % n for n in range(count))


@asynccontextmanager
async def emptied(pool: RolePool) -> AsyncIterator[None]:
    """All connections of a pool are in use."""
    async with AsyncExitStack() as stack:
        for _ in range(pool.get_max_size()):
            await stack.enter_async_context(pool.acquire())
        yield


# -- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "size", "most"),
    [
        ("/api/session", 70_000, 65_536),
        ("/api/session/link", 70_000, 65_536),
        ("/api/jobs/1/reprocess", 2 << 20, 1 << 20),
        ("/api/nothing", 70_000, 65_536),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("is_said", [True, False])
async def test_strangers_send_no_large_bodies(
    service: Service, path: str, size: int, most: int, kind: str, is_said: bool
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(size // 1000 + 1):
            yield b" " * 1000

    async with service.client() as nobody:
        headers = {"content-type": kind}
        answer = await nobody.post(path, content=b" " * size if is_said else pieces(), headers=headers)
    if path == "/api/nothing" and not is_said:
        assert answer.status_code == 404  # nothing of it was read
    else:
        assert (answer.status_code, answer.json()["detail"]) == (413, f"the request has more than {most} bytes")


async def test_a_file_of_bookmarks_that_is_too_large_names_the_setting(dsn: str) -> None:
    async with serving(dsn, api_max_body_bytes=2000) as small, small.client("ann") as client:
        answer = await client.post("/api/bookmarks/import", files={"file": ("marks.json", b"[" + b" " * 9000 + b"]")})
    reason = "the request has more than 8000 bytes: raise FOREBAY_API_MAX_BODY_BYTES, or send less"
    assert (answer.status_code, answer.json()["detail"]) == (413, reason)


async def test_submits_may_be_larger_and_uploads_larger_still(dsn: str) -> None:
    limits: dict[str, Any] = {"api_max_body_bytes": 200_000, "api_max_upload_bytes": 2_000_000}
    async with serving(dsn, **limits) as service, service.client("ann") as ann:
        listed = await ann.post("/api/jobs", json={"pipeline": "pages", "items": [{"title": "x" * 100}] * 1000})
        uploaded = await ann.post("/api/jobs", **form(b'{"title": "%s"}\n' % (b"x" * 1000) * 1000))
        too_large = await ann.post("/api/jobs", **form(b'{"title": "%s"}\n' % (b"x" * 1000) * 2000))
        named = await ann.post("/api/jobs/1/reprocess", json={"scope": "items", "itemIds": ["1" * 9] * 10_000})
    assert (listed.status_code, uploaded.status_code) == (201, 201)
    reason = "the request has more than 2000000 bytes: raise FOREBAY_API_MAX_UPLOAD_BYTES, or send less"
    assert too_large.json()["detail"] == reason
    assert named.status_code != 413


@pytest.mark.parametrize("first", ["application/json", "multipart/form-data; boundary=x"])
async def test_the_first_content_type_counts_for_the_limit_and_for_the_route(dsn: str, first: str) -> None:
    """Else JSON, which is read into memory, could be as large as an upload."""
    kinds = ["application/json", "multipart/form-data; boundary=x"]
    headers = [("content-type", kind) for kind in sorted(kinds, key=lambda kind: kind != first)]
    async with serving(dsn, api_max_body_bytes=2000) as service, service.client("ann") as ann:
        answer = await ann.post("/api/jobs", content=b" " * 3000, headers=headers)
    assert answer.status_code == (413 if first == kinds[0] else 400)


# -- uploads --------------------------------------------------------------------------------------------------------


async def test_an_upload_takes_as_long_as_it_must(dsn: str) -> None:
    """Longer than any other transaction may: here five statements that take a second each."""
    async with serving(dsn, api_timeout_s=2) as service:
        await service.admin.execute(
            """create function public.slow() returns trigger language plpgsql as
               $$ begin perform pg_sleep(1); return null; end $$"""
        )
        await service.admin.execute(
            "create trigger slow after insert on forebay.item for each statement execute function public.slow()"
        )
        async with service.client("ann") as ann:
            answer = await ann.post("/api/jobs", **form(rows(20_000)), timeout=60)
            assert (answer.status_code, answer.json().get("items")) == (201, 20_000), answer.text
        async with service.app.state.pools.owners.acquire() as conn:
            if conn.get_server_version().major >= 17:  # older ones have none
                assert await conn.fetchval("show transaction_timeout") == "4s"


async def test_a_key_tells_files_of_the_same_length_apart(service: Service) -> None:
    async with service.client("ann", **{"Idempotency-Key": "k"}) as ann:
        first = await ann.post("/api/jobs", **form(b'{"title": "one"}'))
        again = await ann.post("/api/jobs", **form(b'{"title": "one"}'))
        others = [
            await ann.post("/api/jobs", **form(b'{"title": "two"}')),
            await ann.post("/api/jobs", **form(b'{"title": "one"}', name="rows.jsonn")),
            await ann.post("/api/jobs", data={"pipeline": "pages", "key": "x"}, files={"file": b'{"title": "one"}'}),
        ]
    assert (first.status_code, again.json()) == (201, first.json())
    assert [(other.status_code, other.json()["detail"]) for other in others] == [
        (422, "Idempotency-Key: was used for another request")
    ] * 3
    assert await service.admin.fetchval("select count(*) from forebay.job") == 1


async def test_a_file_whose_name_cannot_be_stored(service: Service) -> None:
    body = (
        b'--x\r\nContent-Disposition: form-data; name="pipeline"\r\n\r\npages\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\0b.jsonl"\r\n\r\n{"title": "a"}\r\n--x--\r\n'
    )
    async with service.client("ann") as ann:
        answer = await ann.post("/api/jobs", content=body, headers={"content-type": "multipart/form-data; boundary=x"})
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        [{"field": "file", "reason": "must not contain the character U+0000"}],
    )


async def test_uploads_leave_connections_for_who_reads(dsn: str) -> None:
    async with serving(dsn, api_pool_size=4, api_pool_wait_s=0.5) as service:
        lock = service.admin.transaction()
        await lock.start()
        await service.admin.execute("lock table forebay.item in exclusive mode")
        async with service.client("ann") as ann, service.client("bob") as bob, service.client("root") as root:
            hanging = [asyncio.create_task(who.post("/api/jobs", **form(rows(2000)))) for who in (ann, bob)]
            async with asyncio.timeout(20):
                while not service.app.state.pools.write_slots._all.locked():  # noqa: ASYNC110 - they are on their way
                    await asyncio.sleep(0.01)
            refused = [await who.post("/api/jobs", **form(rows(1))) for who in (ann, root)]
            readings = await asyncio.gather(*(who.get("/api/jobs") for who in (ann, bob) for _ in range(5)))
            await lock.rollback()
            saved = [await one for one in hanging]
            later = await ann.post("/api/jobs", **form(rows(1)))
    assert [(one.status_code, one.headers["retry-after"], one.json()["detail"]) for one in refused] == [
        (429, "5", "1 uploads of yours are being saved: send this one later"),
        (429, "5", "2 uploads are being saved here: send this one later"),
    ]
    assert {one.status_code for one in readings} == {200}
    assert [one.status_code for one in (*saved, later)] == [201, 201, 201]


async def test_uploads_that_are_soon_done_wait_for_their_turn(dsn: str) -> None:
    async with serving(dsn, api_pool_size=2) as service, service.client("ann") as ann:
        answers = await asyncio.gather(*(ann.post("/api/jobs", **form(rows(10))) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}


async def test_owners_that_have_no_upload_are_forgotten() -> None:
    turns = WriteSlots(10, 1)
    async with turns.taken(1), turns.taken(1), turns.taken(2):
        assert len(turns._owners) == 2
    gc.collect()
    assert len(turns._owners) == 0


# -- connections ----------------------------------------------------------------------------------------------------


async def test_a_request_that_is_being_worked_on_is_not_waited_for(service: Service) -> None:
    owner = await service.admin.fetchval("select id from forebay.owner where name = 'ann'")
    await service.admin.execute("select pg_advisory_lock(hashtextextended($1, 4663))", f"{owner} k")
    async with service.client("ann", **{"Idempotency-Key": "k"}) as ann:
        async with asyncio.timeout(5):
            busy = await ann.post("/api/jobs", json=ONE)
        await service.admin.execute("select pg_advisory_unlock_all()")
        assert (await ann.post("/api/jobs", json=ONE)).status_code == 201
    assert (busy.status_code, busy.headers["retry-after"]) == (409, "1")
    assert busy.json()["detail"] == "Idempotency-Key: the same request is being processed"


@pytest.mark.parametrize("pool", ["owners", "identity"])
async def test_nobody_waits_long_for_a_connection(dsn: str, pool: str) -> None:
    async with serving(dsn, api_pool_size=2, api_pool_wait_s=0.2) as service, service.client("ann") as ann:
        async with emptied(getattr(service.app.state.pools, pool)):
            answers = [await ann.get("/api/jobs"), await ann.post("/api/jobs", json=ONE)]
            ready = await ann.get("/readyz")
        assert (await ann.post("/api/jobs", json=ONE)).status_code == 201
    for answer in answers:
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["detail"] == "all connections to the database are in use: try again later"
    assert ready.status_code == 200


async def test_the_administrators_pool_is_not_on_an_owners_way(dsn: str) -> None:
    many = {"pipeline": "pages", "items": [{"title": "x"}]}
    async with serving(dsn, api_pool_wait_s=0.2) as service, emptied(service.app.state.pools.admins):
        for who in ("ann", "root"):  # an administrator's own submits are those of an owner
            async with service.client(who) as client:
                assert [(await client.post("/api/jobs", json=body)).status_code for body in (ONE, many)] == [201, 201]
        async with service.client(ip="127.0.0.1", base="http://127.0.0.1") as prometheus:
            assert "forebay_database_up 1.0" in (await prometheus.get("/metrics")).text


async def test_readiness_is_answered_soon(dsn: str) -> None:
    async with (
        serving(dsn, api_pool_wait_s=0.1) as service,
        service.client() as nobody,
        emptied(service.app.state.pools.watch),
        asyncio.timeout(2),
    ):
        answer = await nobody.get("/readyz")
    assert answer.status_code == 503


async def test_a_room_lends_for_a_while_only(service: Service) -> None:
    with pytest.raises(TypeError, match="acquire a connection of a role pool with `async with`"):
        await service.app.state.pools.owners.acquire()


async def test_a_submit_of_one_item_is_one_statement(service: Service) -> None:
    said: list[str] = []
    async with service.client("ann") as ann:
        assert (await ann.post("/api/jobs", json=ONE)).status_code == 201  # counts what is open
        pools = service.app.state.pools
        for pool in (pools.owners, pools.identity, pools.admins):
            async with pool.acquire() as conn:
                conn._con.add_query_logger(lambda record: said.append(record.query))
        assert (await ann.post("/api/jobs", json=ONE)).status_code == 201
    assert len(said) == 2, said  # who it is, and the submit


# -- clients that leave ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/jobs", "application/json"),
        ("/api/jobs", "multipart/form-data; boundary=x"),
        ("/api/session", "application/json"),
    ],
)
async def test_a_client_that_hangs_up_is_no_error(service: Service, path: str, kind: str) -> None:
    messages: list[Message] = [
        {"type": "http.request", "body": b"--x\r\n", "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {service.tokens['ann']}".encode()), (b"content-type", kind.encode())],
        "client": ("192.0.2.7", 1),
    }

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        pass

    with capture_logs() as logs:
        await service.app(scope, receive, send)
    assert [(line["event"], line["log_level"]) for line in logs] == [("client_left", "debug")]
    async with service.client(ip="127.0.0.1", base="http://127.0.0.1") as prometheus:
        metrics = (await prometheus.get("/metrics")).text
    assert f'forebay_api_requests_total{{method="POST",route="{path}",status="499"}} 1.0' in metrics
