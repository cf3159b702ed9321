"""The preferences of a user."""

from __future__ import annotations

from tests.api._service import Service


async def test_preferences_are_kept_for_each_user(service: Service) -> None:
    async with service.client("ann") as ann, service.client("bob") as bob:
        assert (await ann.get("/api/me/preferences")).json() == {"value": {}, "updatedAt": None}
        wanted = {"density": "compact", "columns": ["a", "b"], "big": 1e300}
        stored = (await ann.put("/api/me/preferences", json=wanted)).json()
        assert stored["value"] == wanted
        assert (await ann.get("/api/me/preferences")).json() == stored
        assert (await bob.get("/api/me/preferences")).json() == {"value": {}, "updatedAt": None}
        assert (await ann.put("/api/me/preferences", json={})).json()["value"] == {}
        for body, status, reason in (
            ({"x": "y" * 16_384}, 422, "must not have more than 16384 bytes"),
            ({"x": "\0"}, 422, None),
            ([], 422, "Input should be a valid dictionary"),
        ):
            answer = await ann.put("/api/me/preferences", json=body)
            assert answer.status_code == status, answer.text
            assert reason in (None, answer.json()["errors"][0]["reason"])
        assert (await ann.put("/api/me/preferences", json={"x": "y" * 16_376})).status_code == 200  # all that fits
    owners = await service.admin.fetch("select owner_id from forebay.preferences")
    assert len(owners) == 1
