/** The fields of a form for the JSON schema of a pipeline's input. What a form cannot show is entered as JSON. */

export type Kind = "text" | "whole" | "number" | "flag" | "choice" | "json";

export interface FormField {
  name: string;
  label: string;
  hint: string | undefined;
  kind: Kind;
  choices: string[];
  isRequired: boolean;
  initial: string;
}

interface Schema {
  type?: unknown;
  title?: string;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** The fields of an object; undefined: the input is no object of named fields. */
export function fieldsOf(given: Record<string, unknown>): FormField[] | undefined {
  const schema = given as Schema;
  if (!schema.properties) return undefined;
  return Object.entries(schema.properties).map(([name, field]) => {
    const [kind, choices] = kindOf(field);
    return {
      name,
      label: field.title ?? name,
      hint: field.description,
      kind,
      choices,
      isRequired: schema.required?.includes(name) ?? false,
      initial: initialOf(field.default, kind),
    };
  });
}

function kindOf(field: Schema): [Kind, string[]] {
  if (field.enum?.every((each) => typeof each === "string")) return ["choice", field.enum as string[]];
  const own = field.anyOf?.filter((each) => each.type !== "null");
  if (own?.length === 1) return kindOf(own[0]!);
  if (field.type === "string") return ["text", []];
  if (field.type === "integer") return ["whole", []];
  if (field.type === "number") return ["number", []];
  if (field.type === "boolean") return ["flag", []];
  return ["json", []];
}

function initialOf(value: unknown, kind: Kind): string {
  if (value === undefined || value === null) return "";
  return kind === "json" ? JSON.stringify(value) : String(value);
}

/** The input that a filled form means. Raises a SyntaxError for what is no JSON. */
export function inputOf(fields: FormField[], values: Record<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const { name, kind, isRequired } of fields) {
    const text = values[name] ?? "";
    if (kind === "flag") input[name] = text === "true";
    else if (text === "" && !isRequired) continue;
    else if (kind === "whole" || kind === "number") input[name] = text === "" ? null : Number(text);
    else input[name] = kind === "json" ? JSON.parse(text) : text;
  }
  return input;
}
