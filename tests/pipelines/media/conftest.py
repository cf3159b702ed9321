"""One server and one set of samples for all tests of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from forebay.engine.declare.resources import Resources, resource
from forebay.pipelines.media import inspecting
from tests.pipelines.media._bed import MediaBed, media_bed
from tests.pipelines.media._samples import Samples, make_samples
from tests.pipelines.media._server import MediaServer, serving_media
from tests.pipelines.media._slots import InspectionSlots


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    return make_samples(tmp_path_factory.mktemp("samples"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _media_server() -> AsyncIterator[MediaServer]:
    async with serving_media() as server:
        yield server


@pytest.fixture
def origin(_media_server: MediaServer) -> MediaServer:
    _media_server.forget()
    return _media_server


@pytest_asyncio.fixture(loop_scope="session")
async def bed(dsn: str, tmp_path: Path) -> AsyncIterator[MediaBed]:
    async with media_bed(dsn, tmp_path) as bed:
        yield bed


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> InspectionSlots:
    made = InspectionSlots()

    @resource
    async def inspections(_: Resources) -> AsyncGenerator[asyncio.Semaphore]:
        yield made

    monkeypatch.setattr(inspecting, "inspections", inspections)
    return made
