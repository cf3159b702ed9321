"use strict";
const part = id => document.getElementById(id);

/** Create an element from its name, attributes or properties, and children. */
function make(name, given = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) key in made ? made[key] = value : made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function csrf() {
  const found = document.cookie.split("; ").map(each => each.split("=")).find(([name]) => name.endsWith("forebay_csrf"));
  return found ? decodeURIComponent(found[1]) : "";
}

/** Call the API; `body` is a form, or a value to send as JSON. Returns {ok, status, body, wait}. */
async function ask(method, path, body) {
  const headers = {"X-CSRF-Token": csrf()}, isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {method, headers, body: isForm || body === undefined ? body : JSON.stringify(body)});
  const said = answer.status === 204 ? {} : await answer.json().catch(() => ({detail: `The server answered ${answer.status}`}));
  return {ok: answer.ok, status: answer.status, body: said, wait: Number(answer.headers.get("Retry-After"))};
}

const sentence = text => text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "";

/** Show the signed-in user and the sign-out button in the header; returns the user, or null. */
async function greet() {
  const {ok, body} = csrf() ? await ask("GET", "/api/me") : {ok: false};  // without its cookie there is no session
  part("who").textContent = ok ? body.name : "";
  part("sign-out").hidden = !ok;
  part("sign-in").hidden = ok;
  return ok ? body : null;
}

/** Return to this page after signing in. Stored by the browser, not in the URL, which may contain what is about to be saved. */
function signIn(back = `${location.pathname}${location.hash}`) {
  if (location.pathname === "/sign-in") return;
  sessionStorage.setItem("forebay.back", back);
  location.href = "/sign-in";
}

part("sign-out").addEventListener("click", async () => {
  await ask("DELETE", "/api/session");
  location.href = "/";
});
part("sign-in").addEventListener("click", event => {
  event.preventDefault();
  signIn();
});
