"""The installation, for administrators: settings in force, and the findings of `forebay doctor`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import Field

from forebay.api.auth.authentication import Admin
from forebay.api.deps import SettingsDep
from forebay.api.models import Model
from forebay.api.operations.models import Level
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.settings_list import list_settings

if TYPE_CHECKING:
    from forebay.api.operations.doctor import Doctor

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)


class Setting(Model):
    package: str | None = Field(description="null: of forebay itself")
    variable: str
    value: Any = Field(description="of this API process; secrets are masked")
    default: Any
    source: str = Field(description="default, environment or .env")
    is_secret: bool
    meaning: str


class SettingList(Model):
    settings: list[Setting]


class DoctorFinding(Model):
    level: Level
    about: str
    text: str
    fix: str | None = Field(description="what to do")


class DoctorReport(Model):
    at: datetime
    ok: bool = Field(description="nothing fails")
    findings: list[DoctorFinding]


@router.get("/settings")
async def get_settings(who: Admin, settings: SettingsDep) -> SettingList:
    """Every setting of this API process: its value, origin, default and meaning."""
    rows = list_settings(settings)
    return SettingList(settings=[Setting.model_validate(row, from_attributes=True) for row in rows])


@router.get("/doctor")
async def get_doctor(who: Admin, request: Request) -> DoctorReport:
    """The findings of `forebay doctor` on the machine of the API, made at most once a minute."""
    doctor: Doctor | None = request.app.state.doctor
    if doctor is None:
        raise Problem(404, "is not available here: run `forebay doctor`")
    found, at = await doctor.findings()
    return DoctorReport(
        at=at,
        ok=all(finding.level != "FAIL" for finding in found),
        findings=[DoctorFinding.model_validate(finding, from_attributes=True) for finding in found],
    )
