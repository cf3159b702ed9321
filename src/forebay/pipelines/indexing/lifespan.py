"""What searches need in the process of the API."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.search.query_model import open_query_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fastapi import FastAPI


@asynccontextmanager
async def query_model(app: FastAPI) -> AsyncGenerator[None]:
    async with open_query_model(app.state.settings) as model:
        app.state.query_model = model
        yield
