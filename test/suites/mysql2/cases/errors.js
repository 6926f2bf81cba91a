'use strict';
const { test, refused } = require('harness');
const { open, ask, done, prepared, rows } = require('../client');

const wrong = {
  syntax: 'SELEC 1',
  'syntax, near the end': 'SELECT 1 FROM WHERE',
  'unknown table': 'SELECT * FROM no_such_table',
  'unknown column': 'SELECT nothing',
  'unknown database': 'SELECT * FROM no_such_database.t',
  'unknown function': 'SELECT no_such_function(1)',
  'unknown variable': 'SELECT @@no_such_variable',
  'set an unknown variable': 'SET no_such_variable = 1',
  'set a wrong value': "SET sql_mode = 'NO_SUCH_MODE'",
  'set a variable to a wrong type': "SET SESSION sort_buffer_size = 'x'",
  'set a read-only variable': 'SET @@version = 1',
  'unknown character set': 'SET NAMES no_such_set',
  'unknown collation': "SELECT 'a' COLLATE no_such_collation",
  'unknown procedure': 'CALL no_such_procedure()',
  'unknown engine': 'CREATE TABLE bad_engine (a INT) ENGINE = NoSuchEngine',
  'unknown time zone': "SET time_zone = 'No/Where'",
  'table exists': 'CREATE TABLE error_table (a INT)',
  'database exists': 'CREATE DATABASE suite',
  'no such database to drop': 'DROP DATABASE no_such_database',
  'no such table to drop': 'DROP TABLE no_such_table',
  'empty': '',
  'only a comment': '/* nothing */',
  'only a semicolon': ';',
  'duplicate key': 'INSERT INTO error_table VALUES (1, 1)',
  'not null': 'INSERT INTO error_table VALUES (NULL, 2)',
  'too many columns': 'INSERT INTO error_table VALUES (1, 2, 3)',
  'out of range': "INSERT INTO error_table VALUES (5, 99999999999)",
  'no default': 'INSERT INTO error_table (v) VALUES (1)',
  'wrong date': "SELECT DATE '2024-02-30'",
  'foreign key': 'INSERT INTO error_child VALUES (2, 77)',
  'foreign key, parent': 'DELETE FROM error_table WHERE id = 1',
  'several rows of a subquery': 'SELECT (SELECT 1 UNION SELECT 2)',
  'wrong number of columns': 'SELECT 1 UNION SELECT 1, 2',
  'wrong group': 'SELECT SUM(v), SUM(SUM(v)) FROM error_table',
  'ambiguous column': 'SELECT id FROM error_table a JOIN error_table b ON TRUE',
  'signal': "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own words', MYSQL_ERRNO = 5001",
  'no privilege for a system table': 'DROP TABLE information_schema.tables',
  'deadlock of one with itself': 'ROLLBACK TO SAVEPOINT no_such_savepoint',
  'kill nobody': 'KILL 4294967294',
  'too many arguments': 'SELECT ABS(1, 2)',
  'bigint overflow': 'SELECT 9223372036854775807 + 1',
  'no database': 'USE no_such_database',
  'JSON': "SELECT JSON_EXTRACT('{', '$')",
  'regular expression': "SELECT 'a' REGEXP '('",
};
// No statement of the list changes what is there, so it is made once.
let made;
const prepare = (c) => (made ??= make(c));
const make = async (c) => {
  await rows(c, 'CREATE TABLE error_table (id INT PRIMARY KEY, v INT NOT NULL)');
  await rows(c, 'CREATE TABLE error_child (id INT PRIMARY KEY, parent INT, CONSTRAINT of_parent FOREIGN KEY (parent) REFERENCES error_table (id))');
  await rows(c, 'INSERT INTO error_table VALUES (1, 1)');
  await rows(c, 'INSERT INTO error_child VALUES (1, 1)');
};
const outcome = (promise) => promise.then((value) => ({ value }), (e) => ({ code: e.code, errno: e.errno, state: e.sqlState, message: e.sqlMessage, sql: e.sql, fatal: e.fatal }));
for (const [name, sql] of Object.entries(wrong)) {
  test(`error: ${name}`, async (scope) => {
    const c = open(scope);
    await prepare(c);
    return [await outcome(rows(c, sql)), await rows(c, 'SELECT 1 AS after')];
  });
  test(`error: ${name}, diagnostics`, async (scope) => {
    const c = open(scope);
    await prepare(c);
    await outcome(rows(c, sql));
    return ask(c, 'SHOW WARNINGS');
  });
  test(`error: ${name}, prepared`, async (scope) => {
    const c = open(scope);
    await prepare(c);
    return [await outcome(prepared(c, sql).then((r) => r.rows)), await rows(c, 'SELECT 1 AS after')];
  });
}
test('error: lock wait', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await rows(a, 'CREATE TABLE error_lock (id INT PRIMARY KEY)');
  await rows(a, 'INSERT INTO error_lock VALUES (1)');
  await rows(a, 'BEGIN');
  await rows(a, 'SELECT * FROM error_lock FOR UPDATE');
  await rows(b, 'SET innodb_lock_wait_timeout = 1');
  const waited = await refused(rows(b, 'DELETE FROM error_lock'));
  await rows(a, 'COMMIT');
  return [waited, await rows(b, 'DELETE FROM error_lock')];
});
test('error: deadlock', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await rows(a, 'CREATE TABLE error_dead (id INT PRIMARY KEY, v INT)');
  await rows(a, 'INSERT INTO error_dead VALUES (1, 0), (2, 0)');
  await rows(a, 'BEGIN');
  await rows(b, 'BEGIN');
  await rows(a, 'UPDATE error_dead SET v = 1 WHERE id = 1');
  await rows(b, 'UPDATE error_dead SET v = 1 WHERE id = 2');
  const crossed = await Promise.allSettled([rows(a, 'UPDATE error_dead SET v = 2 WHERE id = 2'), rows(b, 'UPDATE error_dead SET v = 2 WHERE id = 1')]);
  await rows(a, 'ROLLBACK');
  await rows(b, 'ROLLBACK');
  return crossed.map((s) => (s.reason ? s.reason.code : 'done')).sort();
});
test('error: killed query', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  const [{ id }] = await rows(a, 'SELECT CONNECTION_ID() AS id');
  // The statement waits for a lock, so that it is there to be killed.
  await rows(b, 'CREATE TABLE error_killed (id INT PRIMARY KEY)');
  await rows(b, 'INSERT INTO error_killed VALUES (1)');
  await rows(b, 'BEGIN');
  await rows(b, 'SELECT * FROM error_killed FOR UPDATE');
  const waiting = refused(rows(a, 'UPDATE error_killed SET id = 2'));
  const over = waiting.then(() => true, () => true);
  for (let n = 0; n < 200; n++) {
    await rows(b, `KILL QUERY ${id}`);
    if (await Promise.race([over, new Promise((r) => setTimeout(r, 50, false))])) break;
  }
  return [await waiting, await rows(a, 'SELECT 1 AS after')];
});
test('error: killed connection', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  const [{ id }] = await rows(a, 'SELECT CONNECTION_ID() AS id');
  const lost = new Promise((resolve) => a.once('error', (e) => resolve(e.code)).once('end', () => resolve('end')));
  await rows(b, `KILL ${id}`);
  await lost;
  const e = await refused(rows(a, 'SELECT 1'));
  return typeof e.error.message;
});
test('error: a packet above the limit', async (scope) => {
  const c = open(scope);
  const [{ n }] = await rows(c, 'SELECT @@max_allowed_packet AS n');
  const e = await refused(rows(c, 'SELECT LENGTH(?) AS n', ['x'.repeat(Number(n) + 10)]));
  return [n, ['ER_NET_PACKET_TOO_LARGE', 'PROTOCOL_CONNECTION_LOST', 'ECONNRESET', 'EPIPE'].includes(e.error.code)];
});
test('error: in a transaction, which goes on', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE error_goes_on (id INT PRIMARY KEY)');
  await done((f) => c.beginTransaction(f));
  await rows(c, 'INSERT INTO error_goes_on VALUES (1)');
  const e = await refused(rows(c, 'INSERT INTO error_goes_on VALUES (1)'));
  await rows(c, 'INSERT INTO error_goes_on VALUES (2)');
  await done((f) => c.commit(f));
  return [e, await rows(c, 'SELECT * FROM error_goes_on ORDER BY id')];
});
