"""FastAPI dependencies of routes: role pools, settings, pipelines, page sizes and ids."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request

from forebay.api.file_access import FileAccess
from forebay.api.problems import Problem
from forebay.api.role_pools import RolePools
from forebay.engine.declare.pipeline import Pipeline
from forebay.settings import Settings


async def _pools(request: Request) -> RolePools:
    pools: RolePools = request.app.state.pools
    return pools


async def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


async def _pipelines(request: Request) -> dict[str, Pipeline[Any]]:
    pipelines: dict[str, Pipeline[Any]] = request.app.state.pipelines
    return pipelines


async def _file_access(request: Request) -> FileAccess:
    file_access: FileAccess = request.app.state.file_access
    return file_access


async def _page_size(
    request: Request,
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=10_000, description="rows per page")] = 100,
) -> int:
    most: int = request.app.state.settings.api_max_page
    if page_size > most:
        raise Problem(422, f"must not be more than {most}", field="query.pageSize")
    return page_size


def _number(value: str, most: int, field: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 19 or int(value) > most:
        raise Problem(404, f"there is no {field} {value[:40]!r}", field=field)
    return int(value)


async def _job_id(job_id: Annotated[str, Path(description="id of the job", max_length=40)]) -> int:
    return _number(job_id, 2**63 - 1, "job")


async def _item_id(item_id: Annotated[str, Path(description="number of the item in its job", max_length=40)]) -> int:
    return _number(item_id, 2**31 - 1, "item")


async def _file_id(file_id: Annotated[str, Path(description="id of the file", max_length=40)]) -> int:
    return _number(file_id, 2**63 - 1, "file")


RolePoolsDep = Annotated[RolePools, Depends(_pools)]
SettingsDep = Annotated[Settings, Depends(_settings)]
FileAccessDep = Annotated[FileAccess, Depends(_file_access)]
PipelinesDep = Annotated[dict[str, Pipeline[Any]], Depends(_pipelines)]
PageSize = Annotated[int, Depends(_page_size)]
Number = Annotated[str, Path(pattern="^[0-9]{1,18}$")]
JobId = Annotated[int, Depends(_job_id)]
ItemId = Annotated[int, Depends(_item_id)]
FileId = Annotated[int, Depends(_file_id)]
After = Annotated[str | None, Query(description="`next` of the previous page", max_length=400)]
