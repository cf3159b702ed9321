"""Normalizes rows about products, queries providers, and matches their candidates.

    columns = choose_columns(headers, sample, {"title": "Name"})
    fields = normalize(row, columns).fields
    for ask in asks(rounds(fields, ranked(providers)), nothing, attempts, is_last=False):
        found += await by_name[ask.provider].find(ask.query, fetch)
    match = best(fields, found, least)

Independent of engine, database and network: callers fetch through the egress proxy. Declared providers and matching by
title need the extra `sheets`.
"""

from __future__ import annotations

from forebay.services.products.columns import FIELDS, Columns, ColumnSuggestion, FieldName, choose_columns, suggest
from forebay.services.products.normalizing import FieldProblem, Fields, Normalized, normalize
from forebay.services.products.provider_files import load_declarations, load_providers
from forebay.services.products.providers import Fetch, FunctionProvider, HttpProvider, Provider, ProviderRequest
from forebay.services.products.scoring import Candidate, Score, Scored, best, rank, score
from forebay.services.products.strategies import ProviderQuery, Query, asks, ranked, rounds

__all__ = [
    "FIELDS",
    "Candidate",
    "ColumnSuggestion",
    "Columns",
    "Fetch",
    "FieldName",
    "FieldProblem",
    "Fields",
    "FunctionProvider",
    "HttpProvider",
    "Normalized",
    "Provider",
    "ProviderQuery",
    "ProviderRequest",
    "Query",
    "Score",
    "Scored",
    "asks",
    "best",
    "choose_columns",
    "load_declarations",
    "load_providers",
    "normalize",
    "rank",
    "ranked",
    "rounds",
    "score",
    "suggest",
]
