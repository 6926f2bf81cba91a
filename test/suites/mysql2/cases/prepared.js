'use strict';
const { test, refused } = require('harness');
const { mysql, promise, endpoint, open, done, ask, prepared, rows, described } = require('../client');

test('prepared: no parameters', async (scope) => prepared(open(scope), "SELECT 1 AS a, 'x' AS b, NULL AS c"));
const values = { integer: 5, negative: -1, big: 2 ** 53 + 2, fraction: 1.25, text: 'text', empty: '', null: null, true: true, false: false, buffer: Buffer.from([0, 1, 255]), date: new Date(Date.UTC(2024, 1, 29, 1, 2, 3, 4)), json: { a: [1, 'x'] }, bigint: 9223372036854775807n, long: 'x'.repeat(70000) };
for (const [name, value] of Object.entries(values)) {
  test(`prepared: parameter ${name}`, async (scope) => prepared(open(scope), 'SELECT ? AS v, LENGTH(?) AS n', [value, value]));
}
test('prepared: undefined is refused', async (scope) => {
  try {
    await prepared(open(scope), 'SELECT ? AS v', [undefined]);
  } catch (e) {
    return e.message;
  }
  throw new Error('no error');
});
test('prepared: too few parameters', async (scope) => {
  try {
    return await refused(prepared(open(scope), 'SELECT ?, ?', [1]));
  } catch (e) {
    return e.message;
  }
});
test('prepared: named placeholders', async (scope) => prepared(open(scope, { namedPlaceholders: true }), 'SELECT :a AS a, :b AS b, :a AS c', { a: 1, b: 'two' }));
const of = mysql.TypedParameter;
const typed = { VARCHAR: of.VARCHAR('12'), BIGINT: of.BIGINT('9223372036854775807'), DOUBLE: of.DOUBLE(1.5), FLOAT: of.FLOAT(0.5), DATETIME: of.DATETIME('2024-02-29 01:02:03.5'), TIME: of.TIME('-01:02:03'), DECIMAL: of.DECIMAL('1.50'), 'TINYINT UNSIGNED': of.TINY.unsigned(200), BLOB: of.BLOB(Buffer.from([0, 255])) };
for (const [name, value] of Object.entries(typed)) {
  test(`prepared: typed parameter ${name}`, async (scope) => prepared(open(scope), 'SELECT ? AS v', [value]));
}
test('prepared: once and again', async (scope) => {
  const c = open(scope);
  const out = [];
  for (let i = 0; i < 20; i++) out.push((await prepared(c, 'SELECT ? + 1 AS v', [i])).rows);
  return out;
});
test('prepared: types of a parameter change', async (scope) => {
  const c = open(scope);
  const out = [];
  for (const v of [1, 'a', null, 1.5, Buffer.from('b'), new Date(0)]) out.push(await prepared(c, 'SELECT ? AS v', [v]));
  return out;
});
test('prepared: few are kept', async (scope) => {
  const c = open(scope, { maxPreparedStatements: 2 });
  const out = [];
  for (let i = 0; i < 30; i++) out.push((await prepared(c, `SELECT ? + ${i % 5} AS v`, [i])).rows[0].v);
  return out;
});
test('prepared: prepare, execute, close', async (scope) => {
  const c = open(scope);
  const s = await done((f) => c.prepare('SELECT ? AS a, ? AS b', f));
  const about = { parameters: s.parameters.length, columns: s.columns.map((x) => x.name) };
  const out = [];
  for (const p of [[1, 2], ['x', null]]) out.push(await done((f) => s.execute(p, f)).then(([r, fields]) => [r, described(fields)]));
  s.close();
  return [about, out, await rows(c, 'SELECT 1 AS after')];
});
test('prepared: columns told at preparation', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE told (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL, at DATETIME(3))');
  const out = [];
  for (const sql of ['SELECT * FROM told WHERE id = ?', 'INSERT INTO told VALUES (?, ?, ?)', 'SELECT COUNT(*) AS n FROM told', 'UPDATE told SET name = ? WHERE id = ?']) {
    const s = await done((f) => c.prepare(sql, f));
    out.push([sql, described(s.columns), s.parameters.length]);
    s.close();
  }
  return out;
});
test('prepared: unprepare', async (scope) => {
  const c = open(scope);
  const first = await prepared(c, 'SELECT ? AS v', [1]);
  c.unprepare('SELECT ? AS v');
  return [first, await prepared(c, 'SELECT ? AS v', [2])];
});
test('prepared: changes', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE prepared_changes (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10))');
  const out = [];
  for (const [sql, p] of [
    ['INSERT INTO prepared_changes (v) VALUES (?), (?)', ['a', 'b']], ['UPDATE prepared_changes SET v = ? WHERE id = ?', ['c', 1]], ['UPDATE prepared_changes SET v = ? WHERE id = ?', ['c', 1]],
    ['DELETE FROM prepared_changes WHERE id = ?', [2]], ['INSERT INTO prepared_changes VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)', [1, 'z']], ['REPLACE INTO prepared_changes VALUES (?, ?)', [1, 'r']],
  ]) out.push([sql, (await prepared(c, sql, p)).rows]);
  out.push(await prepared(c, 'SELECT * FROM prepared_changes'));
  return out;
});
test('prepared: LIMIT ?', async (scope) => prepared(open(scope), 'SELECT * FROM (SELECT 1 AS a UNION SELECT 2 UNION SELECT 3) x ORDER BY a LIMIT ? OFFSET ?', ['2', '1']));
test('prepared: rows as arrays', async (scope) => prepared(open(scope, { rowsAsArray: true }), "SELECT 1, ?, 'c'", [2]));
test('prepared: nested tables', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE prepared_nest (id INT)');
  await rows(c, 'INSERT INTO prepared_nest VALUES (1)');
  return prepared(c, { sql: 'SELECT a.id, b.id FROM prepared_nest a, prepared_nest b WHERE a.id = ?', nestTables: true }, [1]);
});
test('prepared: typeCast', async (scope) => prepared(open(scope), { sql: "SELECT 1 AS n, 'x' AS s, NULL AS z", typeCast: (f, next) => (f.name === 's' ? `<${f.string()}>` : next()) }));
const big = 'SELECT 9223372036854775807 AS a, 18446744073709551615 AS b, CAST(-9223372036854775808 AS SIGNED) AS c, CAST(? AS UNSIGNED) AS d';
test('prepared: big numbers', async (scope) => prepared(open(scope), big, ['18446744073709551615']));
test('prepared: big numbers as strings', async (scope) => prepared(open(scope, { supportBigNumbers: true, bigNumberStrings: true }), big, ['18446744073709551615']));
test('prepared: dates as strings', async (scope) => prepared(open(scope, { dateStrings: true }), "SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 01:02:03.4567' AS b, CAST('-10:00:00.5' AS TIME(1)) AS c"));
test('prepared: 5 MB', async (scope) => {
  const c = open(scope);
  const b = Buffer.alloc(5_000_000, 7);
  await rows(c, 'CREATE TABLE prepared_long (v LONGBLOB)');
  return [(await prepared(c, 'INSERT INTO prepared_long VALUES (?)', [b])).rows, (await prepared(c, 'SELECT v, LENGTH(v) AS n FROM prepared_long')).rows];
});
test('prepared: 200 parameters', async (scope) => prepared(open(scope), `SELECT ${Array.from({ length: 200 }, () => '?').join(' + ')} AS v`, Array.from({ length: 200 }, (_, i) => i)));
test('prepared: an error, then the statement again', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE prepared_error (id INT PRIMARY KEY)');
  const sql = 'INSERT INTO prepared_error VALUES (?)';
  return [(await prepared(c, sql, [1])).rows, await refused(prepared(c, sql, [1])), (await prepared(c, sql, [2])).rows];
});
test('prepared: a wrong statement', async (scope) => {
  const c = open(scope);
  return [await refused(prepared(c, 'SELEC ?', [1])), await refused(prepared(c, 'SELECT * FROM no_such_table WHERE a = ?', [1])), (await prepared(c, 'SELECT 1 AS a')).rows];
});
test('prepared: the table changes', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE prepared_alter (a INT)');
  await rows(c, 'INSERT INTO prepared_alter VALUES (1)');
  const before = await prepared(c, 'SELECT * FROM prepared_alter');
  await rows(c, "ALTER TABLE prepared_alter ADD b VARCHAR(5) DEFAULT 'b'");
  return [before, await prepared(c, 'SELECT * FROM prepared_alter')];
});
test('prepared: SHOW, DDL, SET and CALL', async (scope) => {
  const c = open(scope);
  const out = [await prepared(c, 'CREATE TABLE prepared_ddl (a INT)'), await prepared(c, "SHOW TABLES LIKE 'prepared_ddl'"), await prepared(c, 'SET @v = ?', [5]), await prepared(c, 'SELECT @v AS v')];
  await rows(c, 'CREATE PROCEDURE prepared_call (n INT) BEGIN SELECT n AS a; SELECT n + 1 AS b, n + 2 AS c; END');
  out.push(await prepared(c, 'CALL prepared_call(?)', [5]), await prepared(c, 'SELECT 1 AS after'));
  return out;
});
test('prepared: transaction statements', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE prepared_tx (a INT)');
  const out = [];
  for (const sql of ['START TRANSACTION', 'INSERT INTO prepared_tx VALUES (1)', 'ROLLBACK']) {
    try {
      out.push((await prepared(c, sql)).rows);
    } catch (e) {
      out.push(e.code);
    }
  }
  return [out, await rows(c, 'SELECT COUNT(*) AS n FROM prepared_tx')];
});
test('prepared: side by side on one connection', async (scope) => {
  const c = open(scope);
  return Promise.all(Array.from({ length: 40 }, (_, i) => prepared(c, `SELECT ? * ${(i % 4) + 1} AS v`, [i]).then((r) => r.rows)));
});
test('prepared: with text between', async (scope) => {
  const c = open(scope);
  const out = [];
  for (let i = 0; i < 10; i++) out.push((await prepared(c, 'SELECT ? AS p', [i])).rows, await rows(c, `SELECT ${i} AS t`));
  return out;
});
test('prepared: streamed', async (scope) => {
  const c = open(scope);
  const out = [];
  for await (const row of c.execute('SELECT 1 AS a UNION ALL SELECT ? UNION ALL SELECT 3', [2]).stream()) out.push(row);
  return out;
});
test('promise: execute and prepare', async (scope) => {
  const c = await promise.createConnection(endpoint);
  scope.defer(() => c.destroy());
  const [found] = await c.execute('SELECT ? AS a', [1]);
  const s = await c.prepare('SELECT ? AS b');
  const [again] = await s.execute([2]);
  await s.close();
  return [found, again, await refused(c.execute('SELECT * FROM no_such_table')), (await ask(c.connection, 'SELECT 3 AS c')).rows];
});
