"""Children of maps through the API: counted with their job and item, steered with them, seen by their owner only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.test_jobs import submitted

if TYPE_CHECKING:
    from tests.api._service import Service


async def _mapped(service: Service) -> tuple[str, str]:
    """A job of ann whose items wait for two children each, as after a step that maps; and the first job of children."""
    job_id = await submitted(service, "a", "b")
    await service.admin.execute(
        "select forebay.map_inputs($1, n, (select min(id) from forebay.step), 'pages', $2, null) "
        "from generate_series(1, 2) n",
        int(job_id),
        ['{"title": "x"}', '{"title": "y"}'],
    )
    child = await service.admin.fetchval("select min(id) from forebay.job where parent_id = $1", int(job_id))
    return job_id, str(child)


async def test_children_are_counted_with_their_job_and_item(service: Service) -> None:
    job_id, child = await _mapped(service)
    await service.admin.execute("update forebay.job set done = 1, error = 1 where id = $1", int(child))
    async with service.client("ann") as client:
        job = (await client.get(f"/api/jobs/{job_id}")).json()
        assert job["children"] == {
            "total": 4, "done": 1, "failed": 1, "jobIds": [child, str(int(child) + 1)], "isCut": False,
        }  # fmt: skip
        item = (await client.get(f"/api/jobs/{job_id}/items/1")).json()
        assert item["children"] == {"total": 2, "done": 1, "failed": 1, "jobIds": [child], "isCut": False}
        assert item["waits"] == []
        listed = (await client.get("/api/jobs")).json()["jobs"]
        assert [(job["id"], job["children"]["total"]) for job in listed] == [(job_id, 4)]
        assert (await client.get(f"/api/jobs/{child}")).json()["children"] is None


async def test_children_do_not_count_as_submitted(service: Service) -> None:
    await _mapped(service)
    usage = "select u.open_jobs, u.open_items from forebay.owner o, forebay.usage(o.id) u where o.name = 'ann'"
    assert tuple(await service.admin.fetchrow(usage) or ()) == (1, 2)


async def test_children_belong_to_the_owner_of_their_job(service: Service) -> None:
    job_id, child = await _mapped(service)
    async with service.client("bob") as client:
        assert (await client.get(f"/api/jobs/{child}")).status_code == 404
        assert (await client.post(f"/api/jobs/{child}/cancel")).status_code == 404
    states = "select array_agg(state::text) from forebay.job where parent_id = $1"
    async with service.client("ann") as client:
        for verb, state in (("pause", "PAUSED"), ("resume", "QUEUED"), ("cancel", "CANCELLED")):
            assert (await client.post(f"/api/jobs/{job_id}/{verb}")).status_code == 200
            assert await service.admin.fetchval(states, int(job_id)) == [state] * 2
