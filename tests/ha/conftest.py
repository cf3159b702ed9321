"""Fixtures of the tests with a real cluster."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

pytest.register_assert_rewrite("tests.crash._rig")

from forebay.db import migrate  # noqa: E402 - rewritten first
from tests._servers import shared_folder  # noqa: E402
from tests.ha._cluster import Cluster  # noqa: E402
from tests.ha._node import why_no_cluster  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


class NewCluster(Protocol):
    """Makes a cluster with the schema of forebay."""

    def __call__(
        self, *, cables: bool = False, synchronous: bool = True, migrated: bool = True
    ) -> AbstractAsyncContextManager[Cluster]: ...


@pytest.fixture
def new_cluster(run_folder: Path) -> NewCluster:
    if reason := why_no_cluster():
        pytest.skip(reason)

    @asynccontextmanager
    async def make(*, cables: bool = False, synchronous: bool = True, migrated: bool = True) -> AsyncGenerator[Cluster]:
        folder = Path(tempfile.mkdtemp(prefix="ha-", dir=shared_folder(run_folder).resolve()))
        try:
            async with Cluster(folder, cables=cables) as cluster:
                if not synchronous:
                    await cluster.configure(synchronous_mode="off")
                if migrated:
                    await migrate.migrate(cluster.dsn)
                yield cluster
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return make
