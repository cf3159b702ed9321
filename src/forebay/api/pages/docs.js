const METHODS = ["get", "post", "put", "patch", "delete", "head"];
let api;

async function begin() {
  greet();
  const {ok, body} = await ask("GET", "/api/openapi.json");
  if (!ok) return part("said").textContent = "The description of the API could not be read: reload this page.";
  api = body;
  const groups = new Map();
  for (const [path, operations] of Object.entries(api.paths))
    for (const method of METHODS.filter(each => each in operations)) {
      const name = (operations[method].tags || ["service"])[0];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(entry(method, path, operations[method]));
    }
  part("groups").replaceChildren(...[...groups].map(([name, entries]) => make("section", {}, make("h2", {}, name), ...entries)));
  if (location.hash) part(location.hash.slice(1))?.setAttribute("open", "");
}

/** Text with `code` in it. */
function prose(text) {
  return text.split("`").map((piece, n) => n % 2 ? make("code", {}, piece) : piece);
}

/** One operation; its form is built when it is opened. */
function entry(method, path, operation) {
  const about = operation.description || operation.summary || "", first = about.split(/(?<=\.)\s/)[0];
  const details = make("details", {id: operation.operationId || `${method} ${path}`},
    make("summary", {}, make("code", {className: "method"}, method.toUpperCase()), make("code", {}, path), make("small", {}, ...prose(first))));
  details.dataset.words = `${method} ${path} ${about}`.toLowerCase();
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(...form(method, path, operation)); });
  return details;
}

function form(method, path, operation) {
  const fields = new Map(), rows = (operation.parameters || []).map(each => {
    const field = make("input", {autocomplete: "off", placeholder: kind(each.schema || {}), required: Boolean(each.required)});
    field.setAttribute("aria-label", each.name);
    fields.set(each, field);
    return make("tr", {}, make("td", {}, make("code", {}, each.name), each.required ? " *" : ""),
      make("td", {}, field, make("small", {}, ...prose(each.description || (each.schema || {}).description || ""))));
  });
  const content = (operation.requestBody || {}).content || {}, body = bodyOf(content);
  const send = make("button", {type: "button"}, "Send"), answer = make("pre", {hidden: true}), line = make("pre", {});
  const request = () => requestOf(method, path, fields, body);
  const refresh = () => { line.textContent = curl(request(), body); };
  for (const field of [...fields.values(), ...(body ? [body.field] : [])]) field.addEventListener("input", refresh);
  send.addEventListener("click", () => perform(request(), send, answer));
  refresh();
  const about = make("p", {}, ...prose(operation.description || ""));
  return [about, make("table", {}, ...rows), ...(body ? [make("label", {}, "Body", body.field)] : []), line, send, answer, answers(operation)];
}

function bodyOf(content) {
  if (content["application/json"])
    return {kind: "json", field: make("textarea", {spellcheck: false, value: JSON.stringify(example(content["application/json"].schema), null, 2)})};
  if (content["multipart/form-data"]) return {kind: "form", field: make("input", {type: "file"})};
  return null;
}

function requestOf(method, path, fields, body) {
  const query = new URLSearchParams(), headers = {};
  for (const [each, field] of fields) {
    if (!field.value) continue;
    if (each.in === "path") path = path.replace(`{${each.name}}`, encodeURIComponent(field.value));
    else if (each.in === "query") query.append(each.name, field.value);
    else if (each.in === "header") headers[each.name] = field.value;
  }
  return {method: method.toUpperCase(), path: `${path}${query.size ? `?${query}` : ""}`, headers, body};
}

function curl({method, path, headers}, body) {
  const words = ["curl", ...(method === "GET" ? [] : ["-X", method]), "-H", `"Authorization: Bearer $token"`];
  for (const [name, value] of Object.entries(headers)) words.push("-H", quoted(`${name}: ${value}`));
  if (body?.kind === "json") words.push("--json", quoted(compact(body.field.value)));
  if (body?.kind === "form") words.push("-F", quoted(`file=@${(body.field.files[0] || {name: "FILE"}).name}`));
  return [...words, quoted(`${location.origin}${path}`)].join(" ");
}

const quoted = text => `'${text.replaceAll("'", `'\\''`)}'`;

function compact(text) {
  try { return JSON.stringify(JSON.parse(text)); } catch { return text; }
}

async function perform({method, path, headers, body}, send, answer) {
  const options = {method, headers: {...headers, "X-CSRF-Token": csrf()}};
  if (body?.kind === "json") Object.assign(options, {body: body.field.value}).headers["Content-Type"] = "application/json";
  if (body?.kind === "form" && body.field.files[0]) (options.body = new FormData()).append("file", body.field.files[0]);
  send.disabled = true;
  try {
    const got = await fetch(path, options), type = got.headers.get("Content-Type") || "";
    const text = type.includes("json") || type.startsWith("text/") ? (await got.text()).slice(0, 100000) : `(${type || "nothing"})`;
    answer.textContent = `${got.status} ${got.statusText}\n${type.includes("json") ? pretty(text) : text}`;
  } catch (error) {
    answer.textContent = `No answer: ${error.message}`;
  } finally {
    answer.hidden = false;
    send.disabled = false;
  }
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

function answers(operation) {
  const rows = Object.entries(operation.responses || {}).map(([status, {description, content}]) => {
    const schema = ((content || {})["application/json"] || {}).schema;
    const shape = schema && status < "300" ? make("pre", {}, JSON.stringify(example(schema), null, 2)) : "";
    return make("tr", {}, make("td", {}, make("code", {}, status)), make("td", {}, ...prose(description || ""), shape));
  });
  return make("details", {}, make("summary", {}, "Answers"), make("table", {}, ...rows));
}

function resolved(schema) {
  return schema?.$ref ? resolved(schema.$ref.split("/").slice(1).reduce((at, key) => at[key], api)) : schema || {};
}

function kind(schema) {
  schema = resolved(schema);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.anyOf) return schema.anyOf.map(kind).filter(each => each !== "null").join(" | ");
  return schema.default !== undefined && schema.default !== null ? `${schema.type} (${schema.default})` : schema.format || schema.type || "any";
}

/** An example value for a schema: only required fields and those with a default, so that it can be sent unchanged. */
function example(schema, depth = 0) {
  schema = resolved(schema);
  if (schema.examples) return schema.examples[0];
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf || schema.oneOf) return example((schema.anyOf || schema.oneOf)[0], depth);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(each => example(each, depth)));
  switch (schema.type) {
    case "object": {
      const wanted = depth > 4 ? [] : Object.keys(schema.properties || {}).filter(name => (schema.required || []).includes(name));
      return Object.fromEntries(wanted.map(name => [name, example(schema.properties[name], depth + 1)]));
    }
    case "array": return depth > 4 ? [] : [example(schema.items, depth + 1)];
    case "integer": case "number": return schema.minimum ?? 0;
    case "boolean": return false;
    case "string": return schema.format === "date-time" ? "2026-01-01T00:00:00Z" : schema.format === "uri" ? "https://example.org/" : "string";
    default: return null;
  }
}

part("filter").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const details of document.querySelectorAll("#groups > section > details"))
    details.hidden = !words.every(word => details.dataset.words.includes(word));
  for (const section of document.querySelectorAll("#groups > section"))
    section.hidden = ![...section.querySelectorAll(":scope > details")].some(details => !details.hidden);
});
part("form").addEventListener("submit", event => event.preventDefault());
begin();
