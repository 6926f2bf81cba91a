'use strict';
const { test, refused } = require('harness');
const { mysql, promise, endpoint, open, ask, rows } = require('../client');

test('text: literals', async (scope) => ask(open(scope), "SELECT 1, -1, 1.50, 1e10, 'a', NULL, TRUE, x'00ff', b'101', DATE '2024-02-29', N'n'"));
test('text: names and aliases', async (scope) => ask(open(scope), 'SELECT 1 AS `a b`, 2 AS a, 3 AS a, 4 AS "", 5 AS `ü`'));
test('text: no rows', async (scope) => ask(open(scope), 'SELECT 1 AS a, "x" AS b FROM DUAL WHERE FALSE'));
test('text: placeholders', async (scope) => ask(open(scope), 'SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e', [1, "it's \\ \n\0", null, true, Buffer.from([0, 255, 39])]));
test('text: lists and objects', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE lists (id INT PRIMARY KEY, name VARCHAR(20))');
  const header = await rows(c, 'INSERT INTO lists VALUES ?', [[[1, 'a'], [2, 'b'], [3, 'c']]]);
  const set = await rows(c, 'INSERT INTO lists SET ?', { id: 4, name: 'd' });
  return [header, set, await rows(c, 'SELECT * FROM ?? WHERE id IN (?) ORDER BY ??', ['lists', [1, 3, 4], 'id'])];
});
test('text: dates as parameters', async (scope) => ask(open(scope, { timezone: '+02:00' }), 'SELECT ? AS d', [new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123))]));
test('text: named placeholders', async (scope) => ask(open(scope, { namedPlaceholders: true }), 'SELECT :a AS a, :b AS b, :a AS c', { a: 1, b: 'two' }));
test('text: rows as arrays', async (scope) => ask(open(scope, { rowsAsArray: true }), "SELECT 1, 2, 'x' UNION SELECT 3, 4, 'y'"));
test('text: rows as arrays in one query', async (scope) => ask(open(scope), { sql: 'SELECT 1 AS a, 2 AS a', rowsAsArray: true }));
for (const nestTables of [true, '_']) {
  test(`text: nested tables, ${nestTables}`, async (scope) => {
    const c = open(scope);
    const name = nestTables === true ? 'nest1' : 'nest2';
    await rows(c, `CREATE TABLE ${name} (id INT, note VARCHAR(5))`);
    await rows(c, `INSERT INTO ${name} VALUES (1, 'x')`);
    return ask(c, { sql: `SELECT a.id, b.note, 1 AS one FROM ${name} a JOIN ${name} b USING (id)`, nestTables });
  });
}
test('text: typeCast off', async (scope) => ask(open(scope, { typeCast: false }), "SELECT 1, 'a', NULL, NOW() > 0, 1.5"));
test('text: typeCast by the application', async (scope) => {
  const seen = [];
  const typeCast = (field, next) => {
    seen.push([field.name, field.type, field.length, field.db, field.table]);
    if (field.name === 's') return `<${field.string()}>`;
    if (field.name === 'b') return field.buffer();
    return next();
  };
  return { got: await ask(open(scope, { typeCast }), "SELECT 's' AS s, 'b' AS b, 3 AS n, NULL AS z"), seen };
});
test('text: typeCast of geometry', async (scope) => {
  const typeCast = (field, next) => (field.type === 'GEOMETRY' ? field.geometry() : next());
  return ask(open(scope, { typeCast }), "SELECT ST_GeomFromText('POINT(1 2)') AS p, ST_GeomFromText('LINESTRING(0 0, 1 1)') AS l");
});
const big = 'SELECT 9223372036854775807 AS a, 18446744073709551615 AS b, CAST(-9223372036854775808 AS SIGNED) AS c, 9007199254740993 AS d, 7 AS e, 12345678901234567890.123 AS f';
test('text: big numbers', async (scope) => ask(open(scope), big));
test('text: big numbers supported', async (scope) => ask(open(scope, { supportBigNumbers: true }), big));
test('text: big numbers as strings', async (scope) => ask(open(scope, { supportBigNumbers: true, bigNumberStrings: true }), big));
test('text: decimals as numbers', async (scope) => ask(open(scope, { decimalNumbers: true }), 'SELECT 1.50 AS a, CAST(2 AS DECIMAL(10,4)) AS b'));
test('text: dates as strings', async (scope) => ask(open(scope, { dateStrings: true }), "SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 01:02:03.4567' AS b, TIME '01:02:03' AS c"));
test('text: some dates as strings', async (scope) => ask(open(scope, { dateStrings: ['DATE'] }), "SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 01:02:03' AS b"));
test('text: insert IDs', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE ids (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT)');
  const out = [await rows(c, 'INSERT INTO ids (v) VALUES (1)'), await rows(c, 'INSERT INTO ids (v) VALUES (2), (3)')];
  out.push(await rows(c, 'INSERT INTO ids VALUES (9007199254740993, 4)'), await rows(c, 'INSERT INTO ids (v) VALUES (5)'));
  const s = open(scope, { supportBigNumbers: true, bigNumberStrings: true });
  out.push(await rows(s, 'INSERT INTO ids (v) VALUES (6)'), await rows(s, 'SELECT LAST_INSERT_ID() AS id'), await rows(s, 'SELECT * FROM ids ORDER BY id'));
  return out;
});
test('text: headers of changes', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE changes (id INT PRIMARY KEY, v INT)');
  const out = [];
  for (const sql of [
    'INSERT INTO changes VALUES (1, 1), (2, 2), (3, 3)', 'INSERT IGNORE INTO changes VALUES (1, 9), (4, 4)', 'UPDATE changes SET v = 2',
    'UPDATE changes SET v = 2', 'REPLACE INTO changes VALUES (1, 5), (9, 9)', 'INSERT INTO changes VALUES (1, 7) ON DUPLICATE KEY UPDATE v = 8',
    'DELETE FROM changes WHERE id > 2', 'INSERT INTO changes SELECT id + 10, v FROM changes', 'DO 1', 'TRUNCATE changes', 'ALTER TABLE changes ADD w INT', 'DROP TABLE changes',
  ]) out.push([sql, await rows(c, sql)]);
  return out;
});
test('text: warnings', async (scope) => {
  const c = open(scope);
  await rows(c, "SET sql_mode = ''");
  await rows(c, 'CREATE TABLE warned (v TINYINT)');
  return [await rows(c, "INSERT INTO warned VALUES (1000), ('x')"), await rows(c, 'SHOW WARNINGS'), await rows(c, 'SHOW COUNT(*) WARNINGS'), await rows(c, 'SELECT @@warning_count AS n'), await rows(c, 'DROP TABLE IF EXISTS no_such_table'), await rows(c, 'SHOW WARNINGS')];
});
test('text: a long statement', async (scope) => ask(open(scope), 'SELECT LENGTH(?) AS n', ['x'.repeat(5_000_000)]));
test('text: a long value', async (scope) => rows(open(scope), "SELECT REPEAT('y', 9000000) AS long_text").then(([r]) => [r.long_text.length, /^y+$/.test(r.long_text)]));
test('text: many rows', async (scope) => {
  const got = await rows(open(scope), 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS v FROM n a, n b WHERE a.i <= 50');
  return [got.length, got.reduce((s, r) => s + r.v, 0)];
});
test('text: 300 columns', async (scope) => ask(open(scope), `SELECT ${Array.from({ length: 300 }, (_, i) => `${i} AS c${i}`)}`));
test('text: characters', async (scope) => ask(open(scope), "SELECT 'ä😀𝄞\u200d' AS a, ? AS b, CHAR_LENGTH('😀') AS n", ['日本語 😀']));
test('text: character sets of columns', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE sets (a VARCHAR(10) CHARACTER SET latin1, b VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c VARBINARY(10), d CHAR(3) CHARACTER SET ascii, e TEXT CHARACTER SET utf16)');
  await rows(c, "INSERT INTO sets VALUES ('é', '😀', 'bin', 'abc', 'x😀')");
  return ask(c, 'SELECT * FROM sets');
});
test('text: comments', async (scope) => {
  const c = open(scope);
  return [await rows(c, '/* first */ SELECT /* in */ 1 AS a -- last'), await rows(c, 'SELECT 1 /*!40101 + 1 */ AS v'), await rows(c, '# line\nSELECT 2 AS b;')];
});
test('text: events', async (scope) => {
  const c = open(scope);
  const log = [];
  await new Promise((resolve) => {
    c.query('SELECT 1 AS a UNION SELECT 2')
      .on('fields', (f) => log.push(['fields', f.map((x) => x.name)]))
      .on('result', (r) => log.push(['result', r]))
      .on('error', (e) => log.push(['error', e.code]))
      .on('end', () => resolve(log.push(['end'])));
  });
  return log;
});
test('text: a query with a time limit', async (scope) => {
  const c = open(scope);
  const e = await refused(rows(c, { sql: 'SELECT SLEEP(3)', timeout: 50 }));
  return e.error.code;
});
test('text: createQuery and format', async (scope) => {
  const c = open(scope);
  return [mysql.format('SELECT ?, ??', ['a', 'b']), c.format('SELECT ?', [new Date(0)]), c.escape("a'b"), c.escapeId('a.b'), await rows(c, mysql.format('SELECT ? AS v', [[1, 2]]).replace('1, 2', '3'))];
});
test('text: raw and toSqlString', async (scope) => ask(open(scope), 'SELECT ? AS v, ? AS w', [mysql.raw('1 + 1'), { toSqlString: () => "'own'" }]));
test('promise: query', async (scope) => {
  const c = await promise.createConnection(endpoint);
  scope.defer(() => c.destroy());
  const [found, fields] = await c.query('SELECT ? AS a, ? AS b', [1, 'x']);
  return [found, fields.map((f) => f.name), await refused(c.query('SELECT * FROM no_such_table'))];
});
