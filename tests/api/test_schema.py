"""Whatever the OpenAPI document allows, and much that it does not: no 5xx, and no answer that it does not describe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api._live import live

if TYPE_CHECKING:
    from schemathesis.schemas import APIOperation

    from tests.conftest import NewDatabase

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
# Streams never end.
LEFT_OUT = {"/api/events"}
CALLERS = ("ann", "root")
# Parts of the operations, which run at the same time.
PARTS = 4


@dataclass
class Described:
    """The operations of a running API, and the headers of its callers."""

    operations: list[APIOperation[Any, Any, Any, Any]]
    headers: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def described(new_database: NewDatabase) -> Iterator[Described]:
    with new_database() as dsn, live(dsn) as (url, service):
        schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json", timeout=120)
        operations: list[APIOperation[Any, Any, Any, Any]] = []
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operations.append(found.ok())
        assert len(operations) > 30
        headers = {caller: {"authorization": f"Bearer {service.tokens[caller]}"} for caller in CALLERS}
        yield Described([each for each in operations if each.path not in LEFT_OUT], headers)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_operation_answers_as_described(described: Described, part: int) -> None:
    headers = described.headers
    for operation in described.operations[part::PARTS]:
        # Generating a request costs as much as answering it, and whether a caller is an administrator changes what
        # happens to it: each request is sent by all callers.
        @settings(max_examples=15, deadline=None, database=None, suppress_health_check=QUIET)
        @given(case=operation.as_strategy())
        def check(case: Any) -> None:
            for caller in CALLERS:
                answer = case.call(headers=headers[caller], timeout=120)
                case.validate_response(answer, checks=CHECKS, headers=headers[caller])

        check()
