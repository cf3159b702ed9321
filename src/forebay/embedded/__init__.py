"""A private PostgreSQL server: created on first use, bound to loopback, recovered after a crash."""

from forebay.embedded.cluster import find_program
from forebay.embedded.server import DEFAULTS, EmbeddedPostgres
from forebay.embedded.system import EmbeddedError

__all__ = ["DEFAULTS", "EmbeddedError", "EmbeddedPostgres", "find_program"]
