"""The general settings: read from FOREBAY_… variables and .env, created once at the start and passed down.

Packages declare their own settings: `settings.of(NotesSettings)`.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import Field, PrivateAttr, SecretStr, field_validator

from forebay.base_settings import OtherName, PackageSettings, Seconds, SettingsBase

P = TypeVar("P", bound=PackageSettings)


def port_ranges(text: str) -> tuple[range, ...]:
    """Ports and port ranges, separated by commas, as in 80,443,8000-8999.

    Raises: ValueError.
    """
    ranges: list[range] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal() and 0 < int(first) <= int(last or first) < 65536):
            raise ValueError(f"{part!r} is neither a port nor a range such as 8000-8999")
        ranges.append(range(int(first), int(last or first) + 1))
    return tuple(ranges)


def days_by_name(text: str) -> dict[str, int]:
    """Days by pipeline name, as in texts=1,notes=90.

    Raises: ValueError.
    """
    days: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if not name or not number.isdecimal() or int(number) < 1:
            raise ValueError(f"{part!r} is not the name of a pipeline and a number of days, as texts=1")
        days[name] = int(number)
    return days


class Settings(SettingsBase):
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

    database_url: SecretStr | None = Field(default=None, description="PostgreSQL to use; unset: an embedded one is run")
    api_database_url: SecretStr | None = Field(
        default=None,
        description="the same database, as the API's requests of owners log in; unset: the account that `forebay up` "
        "makes in its own PostgreSQL, else FOREBAY_DATABASE_URL",
    )
    identity_database_url: SecretStr | None = Field(
        default=None, description="the same, as the API logs in to find out who is asking"
    )
    admin_database_url: SecretStr | None = Field(
        default=None, description="the same, as the API logs in for administrators' requests"
    )
    worker_database_url: SecretStr | None = Field(
        default=None, description="the same, as workers log in, and the API when it runs a slice of work itself"
    )
    data_dir: Path = Field(
        default=Path("data"),
        description="where the embedded PostgreSQL and blobs are kept; unset: `data` here; commands that talk to a "
        "running server also find one of yours above, or the last that `forebay up` has used",
    )
    log_level: str = Field(default="info", description="debug, info, warning or error")
    log_json: bool | None = Field(default=None, description="logs as JSON lines; unset: only when not on a terminal")
    otlp_endpoint: str = Field(
        default="", description="collector that traces are sent to, as http://localhost:4318; empty: no traces"
    )
    sentry_dsn: SecretStr | None = Field(default=None, description="Sentry that errors are sent to; unset: none")

    owner: str = Field(
        default="",
        description="owner of what the command line submits; empty: the only user, else the only administrator, "
        "else `default`",
    )
    pipelines: str = Field(
        default="forebay.example,forebay.pipelines", description="modules with pipelines, separated by commas"
    )
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
    owner_reserve: Annotated[int, Field(ge=0, le=100)] = Field(
        default=2,
        description="slots a step may use beyond its concurrency, one for each owner who runs nothing of it in this "
        "worker while one other owner holds all of them; steps that run one at a time have none",
    )
    claim_safety: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.8, description="share of `slice_ms` that claims are sized for"
    )
    lease_floor_s: Annotated[float, Field(gt=0)] = Field(default=10.0, description="shortest lease without a heartbeat")
    lease_cap_s: Annotated[float, Field(gt=0)] = Field(default=600.0, description="longest lease without a heartbeat")
    throttled_for_s: Annotated[float, Field(gt=0)] = Field(
        default=86400.0, description="a step that is throttled for so long fails, unless its Retry says otherwise"
    )
    sweep_s: Annotated[float, Field(gt=0)] = Field(default=1.0, description="pause between sweeps for expired leases")
    api_host: str = Field(default="127.0.0.1", description="address that the API listens on")
    api_port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8080, description="port that the API listens on")
    metrics_token: Annotated[SecretStr, Field(min_length=16)] | None = Field(
        default=None,
        description="what Prometheus sends to /metrics as `Authorization: Bearer …`; unset: only administrators' "
        "tokens see metrics, and programs on this machine if the API is for this machine only and behind no proxy",
    )
    trusted_proxies: str = Field(default="", description="proxies whose X-Forwarded-For counts, separated by commas")
    api_pool_size: Annotated[int, Field(ge=2, le=200)] = Field(
        default=10, description="connections for owners' requests; uploads have half of them at most"
    )
    api_pool_wait_s: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="longest wait of a request for a connection, or of an upload for its turn"
    )
    api_timeout_s: Annotated[float, Field(gt=0)] = Field(default=15.0, description="longest statement of a request")
    api_head_s: Annotated[float, Field(gt=0)] = Field(
        default=20.0, description="longest wait for the head of a request, from its connection or the last answer on"
    )
    api_idle_s: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="a request's body, or the reader of an answer, that does not move for so long ends"
    )
    api_max_connections: Annotated[int, Field(ge=1)] = Field(
        default=4096,
        description="connections of an API process at a time, half of them of one address, unless that is a trusted "
        "proxy; fewer where the limit of open files is lower",
    )
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

    storage_url: str = Field(
        default="", description="where blobs are: s3://bucket/prefix, or a folder; empty: `blobs` in the data folder"
    )
    storage_endpoint: str = Field(
        default="", description="address of an S3 service other than Amazon's, as http://localhost:8333"
    )
    storage_region: str = Field(default="", description="region of the bucket; empty: AWS_REGION")
    storage_access_key: SecretStr | None = Field(
        default=None, description="for S3; unset: AWS_ACCESS_KEY_ID, or what the machine's role says"
    )
    storage_secret_key: SecretStr | None = Field(default=None, description="for S3; unset: AWS_SECRET_ACCESS_KEY")
    storage_presign: bool = Field(default=False, description="links to files lead to S3 itself, not through the API")
    storage_grace_s: Annotated[float, Field(ge=600)] = Field(
        default=86400.0, description="blobs that no file refers to are deleted when nobody has put them for so long"
    )
    signing_key: Annotated[SecretStr, Field(min_length=32)] | None = Field(
        default=None,
        description="signs links to files; all API processes need the same; unset: a file in the data folder",
    )
    link_s: Annotated[float, Field(ge=1, le=604800)] = Field(
        default=3600.0, description="how long a link to a file works"
    )
    caption_url: str = Field(
        default="",
        description="OpenAI-compatible service that describes images, as https://host/v1, also on this machine",
    )
    caption_model: str = Field(default="", description="its model")
    caption_key: SecretStr | None = Field(default=None, description="its key")
    sandbox: Literal["required", "preferred", "off"] | None = Field(
        default=None,
        description="of programs and functions that touch what strangers made: required, or they do not run; "
        "preferred, so that they run with less where the kernel allows none; off; unset: required for programs that "
        "fetch, preferred for parsers",
    )

    egress_allow_hosts: str = Field(
        default="", description="only these hosts are reached, as example.com,*.example.org; empty: all public ones"
    )
    egress_deny_hosts: str = Field(default="", description="hosts that are never reached, written the same way")
    egress_allow_networks: str = Field(
        default="", description="networks that are reached though they are not public, as 10.0.0.0/8,fd00::/8"
    )
    egress_ports: str = Field(
        default="80,443,1024-65535", description="ports that are reached; the others belong to mail, shells and files"
    )
    egress_confine: bool | None = Field(
        default=None,
        description="children live in a network namespace with only the proxy; unset: where the kernel allows it",
    )
    egress_max_bytes: Annotated[int, Field(ge=0)] = Field(
        default=2 << 30, description="most bytes that come in for one piece of work, as a download; 0: no limit"
    )
    egress_connect_s: Annotated[float, Field(gt=0)] = Field(
        default=10.0, description="longest wait for the DNS, and for a connection"
    )
    egress_idle_s: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="a connection on which nothing moves for so long is given up"
    )
    egress_total_s: Annotated[float, Field(gt=0)] = Field(default=3600.0, description="longest life of a connection")
    egress_ca_file: Path | None = Field(
        default=None, description="certificates that our HTTP client trusts besides the public ones, as PEM"
    )
    egress_user_agent: str = Field(
        default="Mozilla/5.0 (compatible; forebay/0.1)", description="what our HTTP client calls itself"
    )
    egress_host_concurrency: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8, description="most requests to one host at a time; fewer while it is slow or says no"
    )
    egress_host_delay_s: Seconds = Field(
        default=0.0,
        description="least pause between two requests to one host; errors add to it, and its latency does when set",
    )
    egress_host_shared: bool = Field(
        default=True,
        description="concurrency and delay of a host hold for all workers together; false: for each process by itself",
    )
    egress_host_wait_s: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="longest wait for a turn at a host; the step comes again later then"
    )
    egress_retry_after_max_s: Annotated[float, Field(gt=0)] = Field(
        default=3600.0, description="longest Retry-After that is believed"
    )
    egress_robots: bool = Field(default=False, description="ask robots.txt before fetching a page")

    browser_path: Path | None = Field(
        default=None, description="the Chromium to use; unset: the first that is found, headless ones first"
    )
    browser_args: str = Field(default="", description="arguments that Chromium gets besides ours, separated by spaces")
    browser_concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=2, description="pages that a worker process captures at a time"
    )
    browser_timeout_s: Annotated[float, Field(gt=0)] = Field(default=30.0, description="longest capture of a page")
    browser_max_height: Annotated[int, Field(ge=100, le=16_000)] = Field(
        default=10_000, description="pixels of a page's height that its picture shows"
    )
    browser_memory_mb: Annotated[int, Field(ge=256)] = Field(
        default=1536, description="most memory of Chromium with all its processes; it is restarted above that"
    )
    browser_max_captures: Annotated[int, Field(ge=1)] = Field(
        default=200, description="captures after which Chromium is restarted"
    )
    browser_max_age_s: Annotated[float, Field(gt=0)] = Field(
        default=3600.0, description="age at which Chromium is restarted"
    )
    browser_install: bool = Field(
        default=True, description="`forebay up` installs Chromium by apt-get when it is missing and that is allowed"
    )

    keep_attempts_days: Annotated[int, Field(ge=1)] = Field(default=30, description="attempts are dropped after this")
    keep_jobs_days: Annotated[int, Field(ge=1)] = Field(default=30, description="finished jobs are deleted after this")
    keep_jobs_days_of: str = Field(
        default="",
        description="days for the finished jobs of single pipelines, as texts=1,notes=90; empty: the same for all",
    )
    keep_audit_days: Annotated[int, Field(ge=1)] = Field(default=365, description="audit records go after this")

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
        for part in filter(None, (part.strip() for part in text.split(","))):
            ip_network(part, strict=False)
        return text

    @field_validator("egress_ports")
    @classmethod
    def _ports(cls, text: str) -> str:
        port_ranges(text)
        return text

    def of(self, kind: type[P]) -> P:
        """The settings of a package, read on first use.

        Raises: ValidationError.
        """
        found = self._packages.get(kind)
        if not isinstance(found, kind):
            found = self._packages[kind] = kind()
        return found

    def including(self, *parts: PackageSettings) -> Self:
        """A copy with these package settings, instead of those from variables."""
        made = self.model_copy()
        made._packages = self._packages | {type(part): part for part in parts}  # noqa: SLF001 - of its own class
        return made

    @property
    def dsn(self) -> str | None:
        return self.database_url.get_secret_value() if self.database_url else None

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
