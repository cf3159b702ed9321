"""The types of the web app's client are made from the routes."""

from __future__ import annotations

import re

from forebay.api.app import create_app
from forebay.settings import Settings
from scripts import web_client

_REFERENCE = re.compile(r"components\['schemas'\]\[\"(\w+)\"\]")


def test_every_type_that_is_named_is_defined() -> None:
    text = web_client.text(create_app("postgresql://", Settings(), []).openapi())
    defined = set(re.findall(r"^    (\w+): ", text, re.MULTILINE))
    assert set(_REFERENCE.findall(text)) <= defined
    assert "KeyUnique" in defined  # which only a body defines


def test_schemas_become_types() -> None:
    document = {
        "paths": {
            "/api/notes/{id}": {
                "get": {
                    "parameters": [
                        {"in": "path", "name": "id", "required": True, "schema": {"type": "string"}},
                        {
                            "in": "query",
                            "name": "page-size",
                            "schema": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                        },
                    ],
                    "responses": {
                        "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}},
                        "404": {"content": {web_client.PROBLEM: {"schema": {"type": "object"}}}},
                    },
                },
                "delete": {"responses": {"204": {}}},
            }
        },
        "components": {
            "schemas": {
                "Note": {
                    "type": "object",
                    "required": ["kind", "tags"],
                    "properties": {
                        "kind": {"enum": ["a", "b"]},
                        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                        "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
                        "any": {},
                        "fixed": {"const": 1},
                    },
                }
            }
        },
    }
    text = web_client.text(document)
    for line in (
        'query?: { "page-size"?: number | null }; header?: never; path: { id: string }; cookie?: never };',
        """content: { "application/json": components['schemas']["Note"] } };""",
        "204: { headers: { [name: string]: unknown }; content?: never };",
        'kind: "a" | "b";',
        "tags: (string | null)[];",
        "sizes?: Record<string, number>;",
        "any?: unknown;",
        "fixed?: 1;",
        "post?: never;",
        "export type Problem = Record<string, unknown>;",
    ):
        assert line in text


def test_models_of_different_packages_have_different_names() -> None:
    """Two models with one name get long names from their modules, which change the types of every client."""
    document = create_app("postgresql://", Settings(), []).openapi()
    assert [name for name in document["components"]["schemas"] if "__" in name] == []
