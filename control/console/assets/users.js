// Who may log in to the proxies, and what each may do.
import {html} from "./html.js";
import {take} from "./feed.js";
import {count} from "./words.js";

export const needs = () => [["v1/users", 10000]];

// rights are what is not as for everybody.
export function rights(u) {
  const list = [];
  if (u.admin) list.push("admin");
  if (u.read_only) list.push("reads only");
  if (!u.ddl) list.push("no DDL");
  const guard = (value, otherwise, name) => { if (value !== otherwise) list.push(name + ": " + value); };
  guard(u.scatter, "allow", "reads of several shards");
  guard(u.scatter_writes, "refuse", "changes of several shards");
  guard(u.unfiltered, "allow", "changes without WHERE");
  guard(u.large_offset, "allow", "large OFFSETs");
  guard(u.large_gather, "refuse", "large gathers");
  if (u.max_connections) list.push(count(u.max_connections) + " connections at a proxy");
  if (u.statement_timeout) list.push("statements end after " + u.statement_timeout);
  if (u.read) list.push("reads the " + u.read);
  return list;
}

const row = u => html`<tr><th scope="row">${u.name}${u.locked_out ? html` <b class="bad">can't log in</b><br><span class="soft">${u.locked_out}</span>` : ""}</th><td data-name="may use">${[...(u.databases || []), ...(u.tables || [])].join(", ") || "everything"}</td><td data-name="rights">${rights(u).join(", ") || html`<span class="soft">as everybody</span>`}</td><td data-name="TLS">${u.tls}</td><td data-name="logs in with">${u.login}</td></tr>`;

export function draw() {
  const {value, trouble} = take("v1/users");
  if (!value) return html`<section class="card"><h2>Users</h2><p class="soft">${trouble || "Asking …"}</p></section>`;
  return html`<section class="card" id="users" aria-labelledby="users-title"><h2 id="users-title">Users</h2>
${value.users.length === 0 ? html`<p>No user is declared, so nobody can log in. Make one with <code>locus user add NAME</code>.</p>` : html`<table class="stacked"><thead><tr><th scope="col">user</th><th scope="col">may use</th><th scope="col">rights and bounds</th><th scope="col">TLS</th><th scope="col">logs in with</th></tr></thead><tbody>${value.users.map(row)}</tbody></table>`}</section>`;
}
