"""The least that a FastAPI service can do with a submit: one route, one INSERT that commits itself."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import uvicorn
from fastapi import FastAPI

from bench.limits import CREATE, CREATE_READY
from forebay.cli.api import listen

INSERT = "insert into limit_row (id, payload) values (nextval('limit_id'), $1) returning id"


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with asyncpg.create_pool(os.environ["BENCH_DSN"], max_size=10) as pool:
        await pool.execute(f"{CREATE}; {CREATE_READY}; create sequence if not exists limit_id")
        app.state.pool = pool
        yield


app = FastAPI(lifespan=_lifespan)


@app.post("/api/jobs", status_code=201)
async def insert(body: dict[str, Any]) -> dict[str, str]:
    """Saves the input."""
    return {"jobId": str(await app.state.pool.fetchval(INSERT, json.dumps(body["input"])))}


if __name__ == "__main__":
    listener = listen("127.0.0.1", int(sys.argv[1]))
    config = uvicorn.Config(app, log_config=None, access_log=False, loop="uvloop")
    uvicorn.Server(config).run(sockets=[listener])
