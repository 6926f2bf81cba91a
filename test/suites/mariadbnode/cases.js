'use strict';
const mariadb = require('mariadb');
const { test, endpoint, engine, refused, skip, go } = require('harness');

const on = (name, run, options = {}) => test(name, async (scope) => {
  const c = await mariadb.createConnection({ ...endpoint, timezone: 'Z', ...options });
  scope.defer(() => c.end());
  return run(c, scope);
});
const rows = (r) => Array.from(r);
const shown = ({ affectedRows, insertId, warningStatus }) => ({ affectedRows, insertId, warningStatus });
const types = 'id INT AUTO_INCREMENT PRIMARY KEY, n BIGINT, d DECIMAL(20,5), f DOUBLE, t VARCHAR(40), b VARBINARY(20), w DATETIME(3), j JSON';
const fill = async (c, table) => {
  await c.query(`CREATE TABLE ${table} (${types})`);
  for (const row of [
    [1, '1.5', 0.5, 'Ann', Buffer.from([0, 255]), new Date(Date.UTC(2020, 0, 2, 3, 4, 5, 6)), '{"a": 1}'], [9007199254740993n, '-12345678901234.5', -1e300, "it's é", Buffer.alloc(0), null, '[]'], [null, null, null, null, null, null, null],
  ]) await c.execute(`INSERT INTO ${table} (n, d, f, t, b, w, j) VALUES (?, ?, ?, ?, ?, ?, ?)`, row);
};

on('query: values of all types', async (c) => {
  await fill(c, 'm_types');
  return rows(await c.query('SELECT * FROM m_types ORDER BY id'));
});
on('execute: values of all types', async (c) => {
  await fill(c, 'm_execute');
  return [rows(await c.execute('SELECT * FROM m_execute WHERE id >= ? ORDER BY id', [2])), rows(await c.execute('SELECT ? AS a, ? AS b, ? AS c, ? AS d', ['x', 5, null, 1.5])), rows(await c.execute('SELECT * FROM m_execute WHERE t = ?', ["it's é"]))];
});
on('prepare: several executions', async (c) => {
  await fill(c, 'm_prepare');
  const p = await c.prepare('SELECT t FROM m_prepare WHERE id = ?');
  const out = [rows(await p.execute([1])), rows(await p.execute([2])), rows(await p.execute(['3']))];
  p.close();
  return out;
});
on('options: rows as arrays, nested tables, big integers', async (c) => {
  await fill(c, 'm_options');
  return [
    rows(await c.query({ sql: 'SELECT id, t FROM m_options ORDER BY id', rowsAsArray: true })), rows(await c.query({ sql: 'SELECT a.id, b.t FROM m_options a JOIN m_options b ON a.id = b.id ORDER BY a.id', nestTables: true })),
    rows(await c.query({ sql: 'SELECT n FROM m_options ORDER BY id', supportBigNumbers: true, bigNumberStrings: true })), rows(await c.query({ namedPlaceholders: true, sql: 'SELECT t FROM m_options WHERE id = :id OR t = :t ORDER BY id' }, { id: 1, t: "it's é" })),
  ];
});
on('batch: as many rows as given, and errors', async (c) => {
  await fill(c, 'm_batch');
  const out = [shown(await c.batch('INSERT INTO m_batch (n, t) VALUES (?, ?)', Array.from({ length: 500 }, (_, i) => [i, `t${i}`]))), rows(await c.query('SELECT COUNT(*) AS c, SUM(n) AS s, MAX(id) - MIN(id) AS w FROM m_batch'))];
  out.push(await refused(c.batch('INSERT INTO m_batch (id, n) VALUES (?, ?)', [[1, 1], [2, 2]])).then((e) => [e.error.errno, e.error.sqlState]));
  return out;
});
on('write: OK packets', async (c) => {
  await fill(c, 'm_ok');
  return [
    shown(await c.query("INSERT INTO m_ok (t) VALUES ('x'), ('y')")), shown(await c.query("UPDATE m_ok SET t = 'z' WHERE id > 1")), shown(await c.query("UPDATE m_ok SET t = 'z' WHERE id > 1")), shown(await c.query('DELETE FROM m_ok WHERE id = 1')),
    shown(await c.query("INSERT INTO m_ok (id, t) VALUES (2, 'q') ON DUPLICATE KEY UPDATE t = VALUES(t)")), shown(await c.query("INSERT IGNORE INTO m_ok (id, t) VALUES (2, 'q')")), shown(await c.query("REPLACE INTO m_ok (id, t) VALUES (2, 'r')")), rows(await c.query('SHOW WARNINGS')),
  ];
});
on('errors', async (c) => {
  const of = async (sql, values) => { const { error } = await refused(c.query(sql, values)); return [error.errno, error.sqlState, error.code, error.fatal]; };
  return [await of('SELEC 1'), await of('SELECT * FROM m_nosuch'), await of('SELECT nosuch'), await of('INSERT INTO m_nosuch VALUES (?)', [1]), rows(await c.query('SELECT 1 AS still'))];
});
on('transactions', async (c) => {
  await fill(c, 'm_trx');
  const count = async () => Number((await c.query('SELECT COUNT(*) AS c FROM m_trx'))[0].c);
  await c.beginTransaction();
  await c.query('DELETE FROM m_trx');
  const within = await count();
  await c.rollback();
  const after = await count();
  await c.beginTransaction();
  await c.query('DELETE FROM m_trx WHERE id = 1');
  await c.commit();
  return [within, after, await count()];
});
on('streams', async (c) => {
  await fill(c, 'm_stream');
  const out = [];
  for await (const row of c.queryStream('SELECT id, t FROM m_stream ORDER BY id')) out.push(row);
  return out;
});
on('several statements', async (c) => {
  const r = await c.query("SELECT 1 AS a; SET @m = 5; SELECT @m AS b");
  return [rows(r[0]), shown(r[1]), rows(r[2])];
}, { multipleStatements: true });
on('session: ping, reset, change of user and database', async (c) => {
  await c.ping();
  await c.query('SET @kept = 7');
  const before = rows(await c.query('SELECT @kept AS k'));
  await c.reset().catch(() => {});
  if (engine === 'mariadb') await c.changeUser({ user: endpoint.user, password: endpoint.password, database: endpoint.database });
  return [before, rows(await c.query('SELECT @kept AS k, DATABASE() AS d')), c.isValid()];
});
on('compression, and time limits of queries', async (c) => {
  const big = (await c.query("SELECT REPEAT('ab', 100000) AS x"))[0].x;
  return [big.length, rows(await c.query({ sql: 'SELECT 1 AS one', timeout: engine === 'mariadb' ? 10000 : 0 })).length];
}, { compress: true });
test('pool: queries at the same time', async (scope) => {
  const pool = mariadb.createPool({ ...endpoint, connectionLimit: 3 });
  scope.defer(() => pool.end());
  return (await Promise.all(Array.from({ length: 12 }, (_, i) => pool.query('SELECT ? AS n', [i])))).map((r) => Number(r[0].n));
});
test('wrong password', async () => engine === 'mysql' ? skip('the connector asks for a key of the server first') : (await refused(mariadb.createConnection({ ...endpoint, password: 'wrong' }))).error.errno);
go();
