const named = {name: "Name", password: "Password"};
const rule = {name: part("name-rule").textContent, password: part("password-rule").textContent};

// The ways to sign in: each has its texts, fields and request.
const ways = {
  password: {
    title: "Sign in", button: "Sign in", fields: ["name", "password"], isNew: false,
    path: "/api/session", body: given => given,
  },
  invitation: {
    title: "Create your account", button: "Create the account", fields: ["name", "password"], isNew: true,
    said: "You are invited. Choose a name and a password for your account.",
    path: "/api/session/link", body: given => ({link, ...given}),
  },
  "sign-in": {
    title: "Sign in", button: "Sign in", fields: [], isNew: true,
    path: "/api/session/link", body: given => ({link, ...(given.password ? {password: given.password} : {})}),
  },
};
let link = "", way = ways.password;
const next = new URLSearchParams(location.search).get("next");

async function begin() {
  link = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);  // a secret: keep it out of the history and the address bar
  try {
    const me = await greet();
    if (!link) return me ? welcome(me) : show(ways.password);
    const {ok, body, wait} = await ask("POST", "/api/session/link/check", {link});
    // Without a password there is nothing to replace, and one can be set later: nothing is to be asked.
    if (ok && body.name && !body.hasPassword && !me) return follow(body.name);
    if (ok) return show(ways[body.kind], body.name);
    show(ways.password);
    complain(words(body, wait));
  } catch (error) {
    show(ways.password);
    complain(`No answer: ${error.message}. Open the link again.`);
  }
}

async function follow(name) {
  const {ok, body, wait} = await ask("POST", "/api/session/link", {link});
  if (ok) return finish(body);
  show(ways["sign-in"], name);
  complain(words(body, wait));
}

function show(chosen, name) {
  way = chosen;
  document.title = `${way.title} – forebay`;
  part("title").textContent = way.title;
  part("send").textContent = way.button;
  part("said").textContent = name
    ? `This link signs you in as ${name}. If you like, choose a new password: it ends your other sessions.`
    : way.said || "";
  part("name-part").hidden = Boolean(name);
  part("name").value = name || "";
  part("name-rule").hidden = part("password-rule").hidden = !way.isNew;
  part("password-label").textContent = name ? "New password (optional)" : "Password";
  part("password").autocomplete = way.isNew ? "new-password" : "current-password";
  for (const field of ["name", "password"]) part(field).required = way.fields.includes(field);
  part("form").hidden = false;
  complain("");
  (name ? part("send") : part("name")).focus();
}

function complain(text, field) {
  for (const each of ["name", "password"]) part(each).setAttribute("aria-invalid", String(each === field));
  part("wrong").textContent = text;
  if (field) part(field).focus();
}

// The server's error as a sentence: the violated rule, or when to try again.
function words(body, wait) {
  const first = (body.errors || [])[0];
  if (body.status === 422 && first && rule[first.field]) return `${named[first.field]}: ${rule[first.field]}`;
  const detail = first && named[first.field] ? `${named[first.field]}: ${first.reason}` : body.detail || "That did not work";
  const later = wait > 90 ? `${Math.ceil(wait / 60)} minutes` : `${wait} seconds`;
  return `${detail[0].toUpperCase()}${detail.slice(1)}${wait ? `, in ${later}` : ""}.`.replace(/\.\.$/, ".");
}

async function send(event) {
  event.preventDefault();
  const given = {name: part("name").value.trim(), password: part("password").value};
  const missing = way.fields.find(field => !given[field]);
  if (missing) return complain(`${named[missing]} is missing.`, missing);
  part("send").disabled = true;
  try {
    const {ok, body, wait} = await ask("POST", way.path, way.body(given));
    if (ok) return finish(body);
    const field = ((body.errors || [])[0] || {}).field;
    complain(words(body, wait), named[field] ? field : undefined);
    if (!named[field]) part(part("name-part").hidden ? "send" : "password").focus();
  } catch (error) {
    complain(`No answer: ${error.message}. Try again.`);
  } finally {
    part("send").disabled = false;
  }
}

/** The page to return to, else home. Only paths of this site. */
function finish() {
  const back = next || sessionStorage.getItem("forebay.back") || "/";
  sessionStorage.removeItem("forebay.back");
  part("form").reset();
  location.href = new URL(back, location.origin).origin === location.origin ? back : "/";
}

function welcome(me) {
  part("form").hidden = true;
  part("title").textContent = "Signed in";
  part("said").textContent = `You are signed in as ${me.name}.`;
  part("next").hidden = false;
  part("onward").focus();
}

part("form").addEventListener("submit", send);
part("other").addEventListener("click", () => { part("next").hidden = true; show(ways.password); });
part("show").addEventListener("change", event => { part("password").type = event.target.checked ? "text" : "password"; });
addEventListener("hashchange", () => { if (location.hash) begin(); });
begin();
