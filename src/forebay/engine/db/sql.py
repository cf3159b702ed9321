"""The loader of the engine's SQL statements."""

from forebay.db.statements import statements

load = statements("forebay.engine")
