import { describe, expect, it } from "vitest";
import { fieldsOf, inputOf } from "./schema-form";

const SCHEMA = {
  type: "object",
  required: ["title"],
  properties: {
    title: { type: "string", title: "Title" },
    size: { type: "integer", default: 3 },
    tone: { enum: ["low", "high"] },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    loud: { type: "boolean", default: false },
    tags: { type: "array", items: { type: "string" } },
  },
};

describe("fieldsOf", () => {
  it("knows the kinds of fields", () => {
    const fields = fieldsOf(SCHEMA)!;
    expect(fields.map((field) => field.kind)).toEqual(["text", "whole", "choice", "text", "flag", "json"]);
    expect(fields[0]).toMatchObject({ label: "Title", isRequired: true });
    expect(fields[1]).toMatchObject({ label: "size", initial: "3", isRequired: false });
  });
  it("leaves other inputs to JSON", () => {
    expect(fieldsOf({ type: "string" })).toBeUndefined();
  });
});

describe("inputOf", () => {
  it("reads numbers, flags and JSON, and leaves out what is empty", () => {
    const values = { title: "a", size: "7", tone: "", note: "", loud: "true", tags: '["x"]' };
    expect(inputOf(fieldsOf(SCHEMA)!, values)).toEqual({ title: "a", size: 7, loud: true, tags: ["x"] });
  });
  it("complains about what is no JSON", () => {
    expect(() => inputOf(fieldsOf(SCHEMA)!, { tags: "[x" })).toThrow(SyntaxError);
  });
});
