"""The general settings: read from FOREBAY_… variables and .env, created once at the start and passed down.

Packages declare their own settings: `settings.of(NotesSettings)`.
"""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import Field, PrivateAttr, SecretStr, ValidationError, field_validator

from forebay.base_settings import OtherName, PackageSettings, Seconds
from forebay.broker_settings import BrokerSettings
from forebay.embedding_settings import EmbeddingSettings
from forebay.errors import ConfigError
from forebay.setting_formats import days_by_name, networks, port_ranges
from forebay.speech_settings import SpeechSettings
from forebay.validation import reason_without_value

P = TypeVar("P", bound=PackageSettings)


def _read(kind: type[P]) -> P:
    try:
        return kind()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = kind.variable(str(first["loc"][0])) if first["loc"] else f"{kind.variable('')}…"
        reason = reason_without_value(first)
        # Without the cause: its text has the value.
        raise ConfigError(
            f"the setting {name} is invalid{f': it {reason}' if reason else ''}. `forebay config` checks all settings"
        ) from None


class Settings(EmbeddingSettings, SpeechSettings, BrokerSettings):
    """The general settings; the variable of each field is FOREBAY_<NAME>. `of` returns those of packages."""

    other_names: ClassVar = {
        "FOREBAY_WORKER_TARGET_SLICE_MS": OtherName("slice_ms"),
        "FOREBAY_SAFETY_FACTOR": OtherName("claim_safety"),
        "FOREBAY_LOCK_FLOOR_MS": OtherName("lease_floor_s", 0.001),
        "FOREBAY_LOCK_CAP_MS": OtherName("lease_cap_s", 0.001),
    }
    _packages: dict[type[PackageSettings], PackageSettings] = PrivateAttr(
        default_factory=dict[type[PackageSettings], PackageSettings]
    )

    database_url: SecretStr | None = Field(
        default=None, description="address of the database; unset: an embedded PostgreSQL"
    )
    api_database_url: SecretStr | None = Field(
        default=None,
        description="the same database, with the account for the API's requests of owners; unset: the account that "
        "`forebay up` creates in the embedded PostgreSQL, else FOREBAY_DATABASE_URL",
    )
    identity_database_url: SecretStr | None = Field(
        default=None, description="the same, with the account with which the API authenticates users"
    )
    admin_database_url: SecretStr | None = Field(
        default=None, description="the same, with the account for administrators' requests to the API"
    )
    worker_database_url: SecretStr | None = Field(
        default=None, description="the same, with the account of workers, and of the API when it runs a slice of work"
    )
    data_dir: Path = Field(
        default=Path("data"),
        description="folder of the embedded PostgreSQL and of blobs; unset: `data` in the current folder; commands for "
        "a running server also search `data` in the parent folders, and the folder that `forebay up` used last",
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")
    log_json: bool | None = Field(
        default=None, description="write logs as JSON lines; unset: unless standard error is a terminal"
    )
    otlp_endpoint: str = Field(
        default="", description="collector for traces, such as http://localhost:4318; empty: no traces"
    )
    sentry_dsn: SecretStr | None = Field(
        default=None, description="address of the Sentry project for errors; unset: none"
    )

    owner: str = Field(
        default="",
        description="owner of jobs that the command line submits; empty: the only user, else the only administrator, "
        "else `default`",
    )
    pipelines: str = Field(
        default="forebay.example,forebay.pipelines", description="modules with pipelines, separated by commas"
    )
    processes: Annotated[int, Field(ge=1, le=256)] = Field(default=1, description="number of worker processes")
    queues: str = Field(default="", description="serve only these queues, separated by commas; empty: all")
    grace_s: Seconds = Field(default=20.0, description="how long running steps may continue after a stop")
    pool_size: Annotated[int, Field(ge=2, le=100)] = Field(
        default=5, description="maximum database connections of one worker process"
    )
    step_transactions: Annotated[int, Field(ge=1, le=100)] = Field(
        default=4, description="maximum open transactions of steps in one worker process; each uses a connection more"
    )
    command_timeout_s: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="timeout of a statement; its connection is closed as well"
    )
    listen: bool = Field(
        default=True,
        description="wake up with LISTEN; behind a transaction-mode pooler set FOREBAY_LISTEN_URL, or this to false",
    )
    listen_url: SecretStr | None = Field(
        default=None,
        description="the same database and account without the pooler, for the connection of each worker that uses "
        "LISTEN, and that of the leader; unset: the address that workers use",
    )
    prepared_statements: bool = Field(
        default=True, description="set to false behind a pooler that does not support them"
    )
    poll_s: Annotated[float, Field(gt=0)] = Field(
        default=1.0,
        description="longest interval between polls for ready tasks; five times as long while a worker that is woken "
        "up with LISTEN has nothing to do",
    )
    slice_ms: Annotated[float, Field(gt=0)] = Field(
        default=100.0, description="amount of work that a worker keeps claimed in advance"
    )
    claim_max: Annotated[int, Field(ge=1, le=10_000)] = Field(default=2000, description="maximum tasks in one claim")
    claim_min: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=1, description="minimum tasks that a worker keeps claimed"
    )
    owner_reserve: Annotated[int, Field(ge=0, le=100)] = Field(
        default=2,
        description="slots of a step beyond its concurrency, one for each owner who runs none of its tasks in this "
        "worker while other owners hold all regular slots; steps with a concurrency of 1 have none",
    )
    owner_concurrency: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="maximum tasks of one owner that run at the same time, in all workers and steps together, except "
        "batch steps; unset: no maximum",
    )
    claim_safety: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="share of `slice_ms` that claims are sized for"
    )
    lease_floor_s: Annotated[float, Field(gt=0)] = Field(
        default=10.0, description="how long a lease lasts without a heartbeat"
    )
    lease_cap_s: Annotated[float, Field(gt=0)] = Field(
        default=600.0,
        description="longest lease of a process whose heartbeats were late; a worker whose event loop is blocked for "
        "longer loses its leases",
    )
    throttled_for_s: Annotated[float, Field(gt=0)] = Field(
        default=86400.0, description="a step that is throttled for this long fails, unless its Retry sets another time"
    )
    step_timeout_s: Seconds = Field(
        default=3600.0, description="timeout of one attempt of steps that declare no timeout; 0: none"
    )
    sweep_s: Annotated[float, Field(gt=0)] = Field(
        default=1.0, description="interval between sweeps for expired leases"
    )
    api_host: str = Field(default="127.0.0.1", description="address that the API listens on")
    api_port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8080, description="port that the API listens on")
    metrics_token: Annotated[SecretStr, Field(min_length=16)] | None = Field(
        default=None,
        description="token that Prometheus sends to /metrics as `Authorization: Bearer …`; unset: metrics are "
        "available only with an administrator's token, and to local programs if the API listens on loopback only and "
        "behind no proxy",
    )
    trusted_proxies: str = Field(
        default="", description="proxies whose X-Forwarded-For is trusted, separated by commas"
    )
    api_pool_size: Annotated[int, Field(ge=2, le=200)] = Field(
        default=10, description="database connections for owners' requests; uploads use at most half of them"
    )
    api_pool_wait_s: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="longest wait of a request for a database connection, or of an upload for a free place"
    )
    api_timeout_s: Annotated[float, Field(gt=0)] = Field(
        default=15.0, description="timeout of a statement of a request"
    )
    api_head_s: Annotated[float, Field(gt=0)] = Field(
        default=20.0, description="longest wait for the head of a request, since the connection or the last response"
    )
    api_idle_s: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="longest time without progress in reading a request's body or sending a response"
    )
    api_max_connections: Annotated[int, Field(ge=1)] = Field(
        default=4096,
        description="maximum concurrent connections of an API process, at most half of them from one address unless "
        "it is a trusted proxy; fewer if the limit of open files is lower",
    )
    api_max_body_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=16 << 20, description="maximum size of a JSON submit"
    )
    api_max_upload_bytes: Annotated[int, Field(ge=1024)] = Field(
        default=2 << 30, description="maximum size of an uploaded file"
    )
    api_max_items: Annotated[int, Field(ge=1)] = Field(default=10_000, description="maximum items in one JSON request")
    api_max_page: Annotated[int, Field(ge=1, le=10_000)] = Field(default=500, description="maximum rows of one page")
    api_max_streams: Annotated[int, Field(ge=1)] = Field(
        default=200, description="maximum concurrent event streams of one owner"
    )
    secure_cookies: bool | None = Field(
        default=None, description="send session cookies over HTTPS only; unset: unless the API listens on loopback only"
    )
    session_days: Annotated[float, Field(gt=0)] = Field(default=14.0, description="how long a session lasts")
    pending_enabled: bool = Field(default=True, description="serve the pending items of all jobs at /api/pending")
    kickoff_enabled: bool = Field(default=True, description="let owners run slices of their jobs in the API's process")
    max_open_jobs: Annotated[int, Field(ge=0)] = Field(default=100_000, description="maximum open jobs of one owner")
    max_open_items: Annotated[int, Field(ge=0)] = Field(
        default=20_000_000, description="maximum open items of one owner"
    )
    submits_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=60_000, description="maximum submits of one owner per minute; each API process counts separately"
    )

    storage_url: str = Field(
        default="", description="location of blobs: s3://bucket/prefix, or a folder; empty: `blobs` in the data folder"
    )
    storage_endpoint: str = Field(
        default="", description="address of an S3 service other than Amazon's, such as http://localhost:8333"
    )
    storage_region: str = Field(default="", description="region of the bucket; empty: AWS_REGION")
    storage_access_key: SecretStr | None = Field(
        default=None, description="for S3; unset: AWS_ACCESS_KEY_ID, or the machine's role"
    )
    storage_secret_key: SecretStr | None = Field(default=None, description="for S3; unset: AWS_SECRET_ACCESS_KEY")
    storage_presign: bool = Field(default=False, description="links to files point directly to S3, not to the API")
    storage_grace_s: Annotated[float, Field(ge=600)] = Field(
        default=86400.0, description="unreferenced blobs are deleted if they have not been written for this long"
    )
    signing_key: Annotated[SecretStr, Field(min_length=32)] | None = Field(
        default=None,
        description="key that signs links to files, the same for all API processes; unset: a file in the data folder",
    )
    link_s: Annotated[float, Field(ge=1, le=604800)] = Field(
        default=3600.0, description="how long a link to a file is valid"
    )
    caption_url: str = Field(
        default="",
        description="OpenAI-compatible service that describes images, such as https://host/v1; may be on this machine",
    )
    caption_model: str = Field(default="", description="model of this service")
    caption_key: SecretStr | None = Field(default=None, description="key for this service")
    sandbox: Literal["required", "preferred", "off"] | None = Field(
        default=None,
        description="sandbox for programs and functions that process untrusted data. required: they do not run "
        "without one; preferred: without one, they run with limits only; off; unset: required for programs that fetch, "
        "preferred for parsers",
    )

    egress_allow_hosts: str = Field(
        default="", description="allowed hosts, such as example.com,*.example.org; empty: all public hosts"
    )
    egress_deny_hosts: str = Field(default="", description="denied hosts, in the same format")
    egress_allow_networks: str = Field(
        default="", description="allowed networks that are not public, such as 10.0.0.0/8,fd00::/8"
    )
    egress_ports: str = Field(
        default="80,443,1024-65535", description="allowed ports; other ports are used by mail, shells and file servers"
    )
    egress_confine: bool | None = Field(
        default=None,
        description="run children in a network namespace with only the proxy; unset: if the kernel allows it",
    )
    egress_max_bytes: Annotated[int, Field(ge=0)] = Field(
        default=2 << 30, description="maximum bytes received for one operation, such as a download; 0: no limit"
    )
    egress_connect_s: Annotated[float, Field(gt=0)] = Field(
        default=10.0, description="timeout of a DNS query, and of a connection attempt"
    )
    egress_idle_s: Annotated[float, Field(gt=0)] = Field(default=60.0, description="timeout of an idle connection")
    egress_total_s: Annotated[float, Field(gt=0)] = Field(
        default=3600.0, description="maximum duration of a connection"
    )
    egress_ca_file: Path | None = Field(
        default=None, description="additional certificates that the HTTP client trusts, as PEM"
    )
    egress_user_agent: str = Field(
        default="Mozilla/5.0 (compatible; forebay/0.1)", description="User-Agent of the HTTP client"
    )
    egress_host_concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8, description="maximum concurrent requests to one host; fewer while it is slow or rejects requests"
    )
    egress_host_delay_s: Seconds = Field(
        default=0.0,
        description="minimum delay between requests to one host; errors increase it, and latency, too, if it is set",
    )
    egress_host_shared: bool = Field(
        default=True,
        description="apply the concurrency and delay of a host to all workers together; false: to each process",
    )
    egress_host_wait_s: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="longest wait for a request to a host; then the step is retried later"
    )
    egress_retry_after_max_s: Annotated[float, Field(gt=0)] = Field(
        default=3600.0, description="maximum Retry-After that is respected"
    )
    egress_robots: bool = Field(default=False, description="check robots.txt before fetching a page")

    browser_path: Path | None = Field(
        default=None, description="path of Chromium; unset: the first that is found, headless ones first"
    )
    browser_args: str = Field(default="", description="additional arguments for Chromium, separated by spaces")
    browser_concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=2, description="maximum concurrent captures in a worker process"
    )
    browser_timeout_s: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="timeout of the capture of a page"
    )
    browser_max_height: Annotated[int, Field(ge=100, le=16_000)] = Field(
        default=10_000, description="maximum height of the picture of a page, in pixels"
    )
    browser_memory_mb: Annotated[int, Field(ge=256)] = Field(
        default=1536, description="memory of all Chromium processes above which Chromium is restarted"
    )
    browser_max_captures: Annotated[int, Field(ge=1)] = Field(
        default=200, description="captures after which Chromium is restarted"
    )
    browser_max_age_s: Annotated[float, Field(gt=0)] = Field(
        default=3600.0, description="age at which Chromium is restarted"
    )
    browser_install: bool = Field(
        default=True, description="let `forebay up` install Chromium with apt-get if it is missing and permitted"
    )

    adopt_after_s: Annotated[float, Field(ge=1)] = Field(
        default=60.0,
        description="seconds without a worker until open jobs of an old pipeline version get the present one",
    )
    keep_attempts_days: Annotated[int, Field(ge=1)] = Field(
        default=30, description="days after which attempts are deleted"
    )
    keep_jobs_days: Annotated[int, Field(ge=1)] = Field(
        default=30, description="days after which finished jobs are deleted"
    )
    keep_jobs_days_of: str = Field(
        default="",
        description="days for finished jobs of individual pipelines, such as texts=1,notes=90; empty: the same for all",
    )
    keep_audit_days: Annotated[int, Field(ge=1)] = Field(
        default=365, description="days after which audit records are deleted"
    )
    stream_idle_days: Annotated[int, Field(ge=1)] = Field(
        default=30,
        description="days after which the job of a stream that was neither continued nor ended is cancelled",
    )

    @field_validator("browser_path", "egress_ca_file", mode="before")
    @classmethod
    def _no_path(cls, given: object) -> object:
        return given or None  # an empty variable would mean the current folder

    @field_validator("keep_jobs_days_of")
    @classmethod
    def _days_of(cls, text: str) -> str:
        days_by_name(text)
        return text

    @field_validator("egress_allow_networks")
    @classmethod
    def _networks(cls, text: str) -> str:
        networks(text)
        return text

    @field_validator("egress_ports")
    @classmethod
    def _ports(cls, text: str) -> str:
        port_ranges(text)
        return text

    def of(self, kind: type[P]) -> P:
        """The settings of a package, read on first use.

        Raises: ConfigError that names the variable, but never its value.
        """
        found = self._packages.get(kind)
        if not isinstance(found, kind):
            found = self._packages[kind] = _read(kind)
        return found

    def including(self, *parts: PackageSettings) -> Self:
        """A copy with these package settings, instead of those from variables."""
        made = self.model_copy()
        made._packages = self._packages | {type(part): part for part in parts}  # noqa: SLF001 - of its own class
        return made

    @property
    def dsn(self) -> str | None:
        return self.database_url.get_secret_value() if self.database_url else None

    def session_dsn(self, dsn: str) -> str:
        """Where workers of this database have sessions of their own: past the pooler, if there is one."""
        return self.listen_url.get_secret_value() if self.listen_url else dsn

    @property
    def has_sessions(self) -> bool:
        """Whether workers can have sessions of their own."""
        return self.prepared_statements or self.listen_url is not None

    @property
    def is_local(self) -> bool:
        """Whether the API is reachable only from this machine."""
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
