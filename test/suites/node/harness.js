'use strict';
// Runs cases one after the other and writes what became of each to the file that
// SUITE_RESULTS names, a line of JSON. A case passes if its promise is kept; its
// value is the result that is compared. It never judges a result.

const fs = require('fs');

const endpoint = {
  host: process.env.SUITE_HOST,
  port: Number(process.env.SUITE_PORT),
  user: process.env.SUITE_USER,
  password: process.env.SUITE_PASSWORD,
  database: process.env.SUITE_DATABASE,
};
const engine = process.env.SUITE_ENGINE;
const tls = process.env.SUITE_TLS === 'true';
const limitMs = 60_000;

class Skip extends Error {}

// plain makes JSON of a value in which Buffers, dates, big integers and what
// JSON has no word for stay what they are, and keys are in order.
function plain(value) {
  if (value === undefined) return { $: 'undefined' };
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.length <= 4096 ? value : { $: 'string', length: value.length, sum: digest(value) };
  if (typeof value === 'bigint') return { $: 'bigint', value: String(value) };
  if (typeof value === 'number') {
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (typeof value === 'function' || typeof value === 'symbol') return { $: typeof value };
  if (Buffer.isBuffer(value)) {
    return value.length <= 256 ? { $: 'Buffer', hex: value.toString('hex') } : { $: 'Buffer', length: value.length, sum: digest(value) };
  }
  if (value instanceof Date) return { $: 'Date', value: Number.isNaN(+value) ? 'invalid' : value.toISOString() };
  if (value instanceof Error) return failure(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return { $: 'Map', entries: [...value].map(plain) };
  if (value instanceof Set) return { $: 'Set', values: [...value].map(plain) };
  const out = {};
  for (const key of Object.keys(value).sort()) out[key] = plain(value[key]);
  return out;
}

function digest(value) {
  return require('crypto').createHash('sha256').update(value).digest('hex');
}

// failure is what an application sees of an error.
function failure(e) {
  const cause = e.parent || e.driverError || e.original || e;
  return { error: { code: cause.code, errno: cause.errno, sqlState: cause.sqlState, fatal: cause.fatal, message: cause.sqlMessage || cause.message } };
}

// refused is the error of a promise that has to be broken.
async function refused(promise) {
  let value;
  try {
    value = await promise;
  } catch (e) {
    return plain(e);
  }
  throw new Error(`no error, but ${JSON.stringify(plain(value))}`);
}

const cases = [];

// test adds a case. Its function gets a scope, whose defer ends what was opened.
function test(name, run) {
  cases.push({ name, run });
}

function skip(why) {
  throw new Skip(why);
}

function say(name, state, more) {
  fs.appendFileSync(process.env.SUITE_RESULTS, `${JSON.stringify({ name, state, ...more })}\n`);
}

let failCurrent = () => {};
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (e) => failCurrent(e));
}

// wrong says what broke a case and where, on one line.
function wrong(e) {
  const at = String((e && e.stack) || '').split('\n').find((line) => line.includes('/test/suites/'));
  return `${(e && e.message) || e}${at ? ` (${at.trim()})` : ''}`.replaceAll('\n', ' ');
}

async function conduct({ name, run }) {
  const ends = [];
  let timer;
  try {
    const scope = { defer: (end) => ends.unshift(end) };
    const outside = new Promise((_, reject) => {
      failCurrent = reject;
      timer = setTimeout(() => reject(new Error(`not done within ${limitMs} ms`)), limitMs);
    });
    outside.catch(() => {});
    const value = await Promise.race([Promise.resolve().then(() => run(scope)), outside]);
    say(name, 'passed', { result: plain(value) });
  } catch (e) {
    if (e instanceof Skip) say(name, 'skipped', { detail: e.message });
    else say(name, 'failed', { detail: wrong(e) });
  } finally {
    clearTimeout(timer);
    failCurrent = () => {};
    for (const end of ends) {
      try {
        await Promise.race([end(), new Promise((resolve) => setTimeout(resolve, 2000).unref())]);
      } catch {
        // It was ended by the case already.
      }
    }
  }
}

// go runs the cases that were added, or those that the command line names.
async function go() {
  const wanted = new Set(process.argv.slice(2));
  for (const c of cases) {
    if (wanted.size === 0 || wanted.has(c.name)) await conduct(c);
  }
  process.exit(0); // whatever a client left open
}

module.exports = { endpoint, engine, tls, test, skip, refused, plain, go };
