"""The loader of the SQL statements of sheets."""

from forebay.db.statements import statements

load = statements("forebay.pipelines.sheets")
