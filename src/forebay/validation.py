"""The validation errors of pydantic in plain English."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_OBJECT = "must be an object"
_REASONS = {
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be less than {lt:g}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} {unit}",
    "too_long": "must have at most {max_length} {unit}",
    "literal_error": "must be {expected}",
}


def plain_reason(error: ErrorDetails) -> str:
    """What is wrong. The texts of validators may quote the value."""
    if error["type"] == "value_error":
        return str(error.get("ctx", {}).get("error", error["msg"]))
    return reason_without_value(error) or error["msg"]


def reason_without_value(error: ErrorDetails) -> str | None:
    """The same where it is sure that the value is not quoted, which may be secret; else None."""
    pattern = _REASONS.get(error["type"])
    if pattern is None:
        return None
    unit = "entries" if isinstance(error.get("input"), list) else "characters"
    return pattern.format(**error.get("ctx", {}), unit=unit)
