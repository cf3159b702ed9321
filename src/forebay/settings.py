"""Every setting, once: read from FOREBAY_… variables and .env, built at the start and passed down."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

Seconds = Annotated[float, Field(ge=0)]


class Settings(BaseSettings):
    """The settings of forebay; each field is the variable FOREBAY_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="FOREBAY_", env_file=".env", extra="ignore", frozen=True)

    database_url: SecretStr | None = Field(default=None, description="PostgreSQL to use; unset: an embedded one is run")
    data_dir: Path = Field(default=Path("data"), description="where the embedded PostgreSQL keeps its files")
    log_level: str = Field(default="info", description="debug, info, warning or error")
    log_json: bool | None = Field(default=None, description="logs as JSON lines; unset: only when not on a terminal")
    otlp_endpoint: str = Field(
        default="", description="collector that traces are sent to, as http://localhost:4318; empty: no traces"
    )
    sentry_dsn: SecretStr | None = Field(default=None, description="Sentry that errors are sent to; unset: none")

    pipelines: str = Field(default="forebay.example", description="modules with pipelines, separated by commas")
    processes: Annotated[int, Field(ge=1, le=256)] = Field(default=1, description="worker processes to run")
    queues: str = Field(default="", description="serve only these queues, separated by commas; empty: all")
    grace_s: Seconds = Field(default=20.0, description="how long running steps may go on after a stop")
    pool_size: Annotated[int, Field(ge=2, le=100)] = Field(default=5, description="connections of one worker process")
    command_timeout_s: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="a statement without an answer for so long is given up, and its connection"
    )
    listen: bool = Field(default=True, description="wake up by LISTEN; off behind a transaction-mode pooler")
    prepared_statements: bool = Field(default=True, description="off behind a pooler that cannot keep them")
    poll_s: Annotated[float, Field(gt=0)] = Field(default=1.0, description="longest pause between looks")
    slice_ms: Annotated[float, Field(gt=0)] = Field(default=100.0, description="work that a worker keeps at hand")
    claim_max: Annotated[int, Field(ge=1, le=10_000)] = Field(default=2000, description="most tasks in one claim")
    claim_min: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=1, description="fewest tasks a worker wants at hand"
    )
    claim_safety: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="share of `slice_ms` that claims are sized for"
    )
    lease_floor_s: Annotated[float, Field(gt=0)] = Field(default=10.0, description="shortest lease without a heartbeat")
    lease_cap_s: Annotated[float, Field(gt=0)] = Field(default=600.0, description="longest lease without a heartbeat")
    sweep_s: Annotated[float, Field(gt=0)] = Field(default=1.0, description="pause between sweeps for expired leases")
    api_host: str = Field(default="127.0.0.1", description="address that the API listens on")
    api_port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8080, description="port that the API listens on")
    trusted_proxies: str = Field(default="", description="proxies whose X-Forwarded-For counts, separated by commas")
    api_pool_size: Annotated[int, Field(ge=2, le=200)] = Field(
        default=10, description="connections for owners' requests; uploads have half of them at most"
    )
    api_pool_wait_s: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="longest wait of a request for a connection, or of an upload for its turn"
    )
    api_timeout_s: Annotated[float, Field(gt=0)] = Field(default=15.0, description="longest statement of a request")
    api_max_body_bytes: Annotated[int, Field(ge=1024)] = Field(default=16 << 20, description="largest JSON submit")
    api_max_upload_bytes: Annotated[int, Field(ge=1024)] = Field(default=2 << 30, description="largest uploaded file")
    api_max_items: Annotated[int, Field(ge=1)] = Field(default=10_000, description="most items in one JSON request")
    api_max_page: Annotated[int, Field(ge=1, le=10_000)] = Field(default=500, description="most rows of one page")
    api_max_streams: Annotated[int, Field(ge=1)] = Field(
        default=200, description="event streams of one owner at a time"
    )
    secure_cookies: bool | None = Field(
        default=None, description="send session cookies over HTTPS only; unset: unless the API is for this machine only"
    )
    session_days: Annotated[float, Field(gt=0)] = Field(default=14.0, description="how long a session lasts")
    pending_enabled: bool = Field(default=True, description="serve the pending items of all jobs at /api/pending")
    kickoff_enabled: bool = Field(default=True, description="let owners run slices of their jobs in the API's process")
    max_open_jobs: Annotated[int, Field(ge=0)] = Field(default=100_000, description="open jobs of one owner")
    max_open_items: Annotated[int, Field(ge=0)] = Field(default=20_000_000, description="open items of one owner")
    submits_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=60_000, description="submits of one owner; every API process counts its own"
    )

    keep_attempts_days: Annotated[int, Field(ge=1)] = Field(default=30, description="attempts are dropped after this")
    keep_jobs_days: Annotated[int, Field(ge=1)] = Field(default=30, description="finished jobs are deleted after this")
    keep_audit_days: Annotated[int, Field(ge=1)] = Field(default=365, description="audit records go after this")

    @property
    def dsn(self) -> str | None:
        return self.database_url.get_secret_value() if self.database_url else None

    @property
    def is_local(self) -> bool:
        """Whether the API is for this machine only."""
        try:
            return self.api_host == "localhost" or ip_address(self.api_host).is_loopback
        except ValueError:
            return False

    @property
    def pipeline_modules(self) -> list[str]:
        return [name.strip() for name in self.pipelines.split(",") if name.strip()]

    @property
    def queue_names(self) -> frozenset[str]:
        return frozenset(name.strip() for name in self.queues.split(",") if name.strip())
