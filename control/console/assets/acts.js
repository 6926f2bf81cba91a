// Requests of an admin that concern a finding, a shard or a process: what the dialog asks, and what is sent.
// The rule of all confirmations: the dialog names the consequences, its button repeats the verb, and it is red if the request can't be undone or ends something.
import {differencesOf, takeRow} from "./moves.js";
import {lag, plural} from "./words.js";

const one = (list, key, value) => list.find(x => x[key] === value);

const servers = shard => (shard.replicas || []).map(r => r.address);

const lags = shard => (shard.replicas || []).map(r => `${r.address} is ${lag(r.lag_ms)} behind${r.usable ? "" : " and not usable"}`).join(", ");

// acts return the subject of a request and the request.
export const acts = {
  acknowledge(state, id) {
    const f = one(state.findings, "id", id), risk = f.severity === "at-risk";
    return {subject: f.where, order: {
      word: "Acknowledge …", procedure: "acknowledge", body: {finding: id}, ask: `${f.what}. If you acknowledge it, it no longer counts as a finding, for everybody. ${risk ? "A risk can be acknowledged for 90 days at most." : "With 0 days it stays acknowledged until you withdraw that."}`,
      arguments: [{name: "why", label: "Reason", text: true, value: "", most: 500}, {name: "days", label: "For", unit: "days", value: risk ? "7" : "0", least: risk ? 0.1 : 0, most: risk ? 90 : 366}],
      done: () => `The finding about ${f.where} is acknowledged.`,
    }};
  },
  withdraw(state, id) {
    const f = one(state.findings, "id", id);
    return {subject: f.where, order: {word: "Withdraw the acknowledgement", procedure: "withdraw", body: {finding: id}, ask: `${f.what}. The finding counts again, for everybody.`, done: () => `The finding about ${f.where} counts again.`}};
  },
  declare: (state, table) => ({subject: table, order: {
    word: "Declare …", procedure: "table_add", body: {table}, ask: `Say how the rows of ${table} are found, such as owner=buyer_uid id=order_id, or global. Its rows must already be where the declaration puts them, as those of an empty table are; otherwise import the table.`,
    arguments: [{name: "words", label: "Declaration", text: true, value: "", most: 1000}], done: told => `${told.table} is declared: ${told.words || told.kind}.`,
  }}),
  importTable: (state, table) => ({subject: table, order: {
    word: "Import …", procedure: "import", ask: `Start a job that moves the rows of ${table} to the shards that the declaration says, such as owner=buyer_uid id=order_id, while applications work. Nothing is handed over before you cut it over.`,
    arguments: [{name: "words", label: "Declaration", text: true, value: "", most: 1000}], make: given => ({tables: [{table, words: given.words}]}), done: told => `${told.job} has begun.`,
  }}),
  switchover(state, name) {
    const shard = one(state.shards, "name", name);
    return {subject: "shard " + name, order: {
      word: "Switch over …", procedure: "switchover", body: {shard: name}, ask: `Make another server the primary of shard ${name} instead of ${shard.address}. Statements on the shard are paused until the server has applied everything, usually for less than a second. Now ${lags(shard)}. If a step fails before, everything is undone.`,
      arguments: [{name: "server", label: "New primary", choices: servers(shard), value: servers(shard)[0]}], done: told => `${told.primary} is the primary of shard ${name}. Its statements were paused for ${told.held_ms} ms.`,
    }};
  },
  promote(state, name) {
    const shard = one(state.shards, "name", name);
    return {subject: "shard " + name, order: {
      word: "Promote …", procedure: "promote", grave: true, body: {shard: name}, ask: `Make a server the primary of shard ${name} whatever the state of the others is. Use it if the primary ${shard.address} is lost. Now ${lags(shard)}. Servers that can be reached become read-only. If the server lacks transactions, they are listed and nothing is changed.`,
      arguments: [{name: "server", label: "New primary", choices: servers(shard), value: servers(shard)[0]}], done: told => `${told.primary} is the primary of shard ${name}.`,
    }};
  },
  takeRow(state, of) {
    const [job, row, side] = of.split(" ");
    return takeRow(one(state.moves, "id", job), differencesOf(job), row, side);
  },
  drain(state, id) {
    const others = state.proxies.length - 1, p = one(state.proxies, "id", id);
    return {subject: id, order: {
      word: "Drain …", procedure: "drain", grave: true, body: {process: id, last: others === 0}, ask: `${others === 0 ? "This is the only proxy: applications have none without it." : `This is one of ${plural(state.proxies.length, "proxy")}.`} It has ${plural(p.sessions, "session")}. Its /readyz answers 503 at once, and its port closes after proxy.drain_delay (5 s if nothing else is set), so that load balancers notice it. Running statements and transactions may end, then the process stops. The table shows the progress.${state.server === id ? " It serves this page, which then has to be opened at another process." : ""}`,
      done: told => `${told.process} drains. ${plural(told.proxies_left, "proxy")} are left.`.replace("1 proxy are", "1 proxy is"),
    }};
  },
};
