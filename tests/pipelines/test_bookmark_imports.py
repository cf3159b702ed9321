"""Links out of files are judged as those that people hand in."""

from __future__ import annotations

from typing import Any, cast

import pytest

from forebay import Context
from forebay.pipelines.bookmarks.imports import Imported, add
from forebay.services.egress import InvalidUrl
from forebay.settings import Settings


class Home:
    """A context with nothing but settings."""

    owner_id = 1

    def __init__(self, **settings: Any) -> None:
        self._settings = Settings(**settings)

    async def get(self, _resource: Any) -> Settings:
        return self._settings


async def test_a_link_into_a_private_network_is_refused_with_the_setting_that_allows_it() -> None:
    given = Imported(url="http://192.168.1.7/photos")
    with pytest.raises(
        InvalidUrl, match=r"^url: 192\.168\.1\.7 is private; FOREBAY_EGRESS_ALLOW_NETWORKS can allow private networks$"
    ):
        await add.fn(cast("Context", Home()), given)
    done = await add.fn(cast("Context", Home(egress_allow_networks="192.168.0.0/16")), given)
    assert done.result == "http://192.168.1.7/photos"
