'use strict';
const { test, refused } = require('harness');
const { promise, endpoint, open, ask, prepared, rows, done } = require('../client');

const several = (scope, more) => open(scope, { multipleStatements: true, ...more });

test('several: selects', async (scope) => ask(several(scope), 'SELECT 1 AS a; SELECT 2 AS b, 3 AS c; SELECT 4 AS d FROM DUAL WHERE FALSE'));
test('several: one', async (scope) => ask(several(scope), 'SELECT 1 AS a;'));
test('several: mixed', async (scope) => {
  const c = several(scope);
  return ask(c, "CREATE TABLE several_mixed (id INT AUTO_INCREMENT PRIMARY KEY, v INT); INSERT INTO several_mixed (v) VALUES (1), (2); SELECT * FROM several_mixed; UPDATE several_mixed SET v = 9; DO 1; SELECT 'end' AS e");
});
test('several: an error in the middle', async (scope) => {
  const c = several(scope);
  await rows(c, 'CREATE TABLE several_error (id INT PRIMARY KEY)');
  const e = await refused(rows(c, 'INSERT INTO several_error VALUES (1); INSERT INTO several_error VALUES (1); INSERT INTO several_error VALUES (2)'));
  return [e, await rows(c, 'SELECT * FROM several_error')];
});
test('several: a syntax error in the middle', async (scope) => {
  const c = several(scope);
  const e = await refused(rows(c, 'SELECT 1; SELEC 2; SELECT 3'));
  return [e, await rows(c, 'SELECT 1 AS after')];
});
test('several: semicolons in texts and comments', async (scope) => ask(several(scope), "SELECT ';' AS a; SELECT \";\" AS `b;`; /* ; */ SELECT 3 AS c -- ; none\n; SELECT 4 AS d"));
test('several: placeholders', async (scope) => ask(several(scope), 'SELECT ? AS a; SELECT ?, ? AS b', [1, 2, 'x;y']));
test('several: transaction', async (scope) => {
  const c = several(scope);
  await rows(c, 'CREATE TABLE several_tx (a INT)');
  return [await rows(c, 'BEGIN; INSERT INTO several_tx VALUES (1); COMMIT; BEGIN; INSERT INTO several_tx VALUES (2); ROLLBACK'), await rows(c, 'SELECT * FROM several_tx')];
});
test('several: session state between', async (scope) => ask(several(scope), "SET @a = 1; SELECT @a AS a; SET time_zone = '+03:00'; SELECT @@time_zone AS z; USE information_schema; SELECT DATABASE() AS d"));
test('several: not asked for', async (scope) => refused(rows(open(scope), 'SELECT 1; SELECT 2')));
test('several: not prepared', async (scope) => refused(prepared(several(scope), 'SELECT 1; SELECT 2')));
test('several: rows as arrays', async (scope) => ask(several(scope, { rowsAsArray: true }), 'SELECT 1, 2; SELECT 3'));
test('several: events', async (scope) => {
  const c = several(scope);
  const log = [];
  await new Promise((resolve) => {
    c.query('SELECT 1 AS a; DO 1; SELECT 2 AS b UNION SELECT 3')
      .on('fields', (f, i) => log.push(['fields', i, f && f.map((x) => x.name)]))
      .on('result', (r, i) => log.push(['result', i, r]))
      .on('end', () => resolve());
  });
  return log;
});
test('several: a hundred', async (scope) => ask(several(scope), Array.from({ length: 100 }, (_, i) => `SELECT ${i} AS v`).join(';')));
test('several: with LAST_INSERT_ID()', async (scope) => {
  const c = several(scope);
  return rows(c, 'CREATE TABLE several_ids (id INT AUTO_INCREMENT PRIMARY KEY, v INT); INSERT INTO several_ids (v) VALUES (7); INSERT INTO several_ids (v) VALUES (LAST_INSERT_ID()); SELECT * FROM several_ids');
});
test('several: CALL with results', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE PROCEDURE several_call (n INT) BEGIN SELECT n AS a; SELECT n + 1 AS b, n + 2 AS c; END');
  return [await ask(c, 'CALL several_call(5)'), await rows(c, 'SELECT 1 AS after')];
});
test('several: CALL without results', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE several_none (a INT)');
  await rows(c, 'CREATE PROCEDURE several_call_none () INSERT INTO several_none VALUES (1), (2)');
  return ask(c, 'CALL several_call_none()');
});
test('several: CALL with OUT parameters', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE PROCEDURE several_out (IN a INT, OUT b INT, INOUT c INT) BEGIN SET b = a * 2; SET c = c + 1; END');
  await rows(c, 'SET @c = 10');
  return [await rows(c, 'CALL several_out(4, @b, @c)'), await rows(c, 'SELECT @b AS b, @c AS c')];
});
test('several: CALL that fails half-way', async (scope) => {
  const c = open(scope);
  await rows(c, "CREATE PROCEDURE several_fails () BEGIN SELECT 1 AS a; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'half-way'; END");
  return [await refused(rows(c, 'CALL several_fails()')), await rows(c, 'SELECT 1 AS after')];
});
test('several: CALL and SELECT', async (scope) => {
  const c = several(scope);
  await rows(c, 'CREATE PROCEDURE several_between () SELECT 7 AS a');
  return rows(c, 'SELECT 1 AS b; CALL several_between(); SELECT 2 AS c');
});
test('several: triggers and functions', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE several_trigger (a INT, b INT)');
  await rows(c, 'CREATE TRIGGER several_before BEFORE INSERT ON several_trigger FOR EACH ROW BEGIN SET NEW.b = NEW.a * 2; END');
  await rows(c, 'CREATE FUNCTION several_twice (n INT) RETURNS INT DETERMINISTIC RETURN n * 2');
  await rows(c, 'INSERT INTO several_trigger (a) VALUES (4)');
  return rows(c, 'SELECT a, b, several_twice(b) AS c FROM several_trigger');
});
test('promise: several', async (scope) => {
  const c = await promise.createConnection({ ...endpoint, multipleStatements: true });
  scope.defer(() => c.destroy());
  const [found, fields] = await c.query('SELECT 1 AS a; SELECT 2 AS b');
  return [found, fields.map((x) => x.map((f) => f.name))];
});
test('several: reset and change user keep the mode', async (scope) => {
  const c = several(scope);
  await rows(c, 'SELECT 1');
  await done((f) => c.reset(f));
  const after = await rows(c, 'SELECT 1 AS a; SELECT 2 AS b');
  await done((f) => c.changeUser({ database: endpoint.database }, f));
  return [after, await rows(c, 'SELECT 3 AS a; SELECT 4 AS b')];
});
