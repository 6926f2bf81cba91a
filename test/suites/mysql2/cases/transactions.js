'use strict';
const { test, refused } = require('harness');
const { promise, endpoint, open, done, rows } = require('../client');

const table = async (c, name) => {
  await rows(c, `CREATE TABLE ${name} (id INT PRIMARY KEY, v INT)`);
  await rows(c, `INSERT INTO ${name} VALUES (1, 10), (2, 20)`);
};

test('transaction: commit', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await table(a, 'tx_commit');
  await done((f) => a.beginTransaction(f));
  await rows(a, 'UPDATE tx_commit SET v = v + 1');
  const during = await rows(b, 'SELECT * FROM tx_commit');
  await done((f) => a.commit(f));
  return [during, await rows(b, 'SELECT * FROM tx_commit')];
});
test('transaction: rollback', async (scope) => {
  const a = open(scope);
  await table(a, 'tx_rollback');
  await done((f) => a.beginTransaction(f));
  await rows(a, 'DELETE FROM tx_rollback');
  const during = await rows(a, 'SELECT * FROM tx_rollback');
  await done((f) => a.rollback(f));
  return [during, await rows(a, 'SELECT * FROM tx_rollback')];
});
test('transaction: repeatable reads', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await table(a, 'tx_repeat');
  await rows(a, 'START TRANSACTION');
  const out = [await rows(a, 'SELECT * FROM tx_repeat')];
  await rows(b, 'UPDATE tx_repeat SET v = 99');
  out.push(await rows(a, 'SELECT * FROM tx_repeat'));
  await rows(a, 'COMMIT');
  out.push(await rows(a, 'SELECT * FROM tx_repeat'));
  return out;
});
for (const level of ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']) {
  test(`transaction: ${level}`, async (scope) => {
    const [a, b] = [open(scope), open(scope)];
    const name = `tx_${level.replace(' ', '_').toLowerCase()}`;
    await table(a, name);
    await rows(a, `SET TRANSACTION ISOLATION LEVEL ${level}`);
    await rows(a, 'START TRANSACTION');
    const out = [await rows(a, `SELECT v FROM ${name} WHERE id = 2`)];
    await rows(b, 'START TRANSACTION');
    await rows(b, 'SET innodb_lock_wait_timeout = 1');
    out.push(await rows(b, `UPDATE ${name} SET v = 77 WHERE id = 2`).catch((e) => e.code));
    out.push(await rows(a, `SELECT v FROM ${name} WHERE id = 2`));
    await rows(b, 'COMMIT');
    out.push(await rows(a, `SELECT v FROM ${name} WHERE id = 2`));
    await rows(a, 'COMMIT');
    out.push(await rows(a, `SELECT v FROM ${name} WHERE id = 2`));
    return out;
  });
}
test('transaction: read-only', async (scope) => {
  const a = open(scope);
  await table(a, 'tx_readonly');
  await rows(a, 'START TRANSACTION READ ONLY');
  const e = await refused(rows(a, 'DELETE FROM tx_readonly'));
  await rows(a, 'ROLLBACK');
  return [e, await rows(a, 'DELETE FROM tx_readonly')];
});
test('transaction: promise', async (scope) => {
  const c = await promise.createConnection(endpoint);
  scope.defer(() => c.destroy());
  await c.query('CREATE TABLE tx_promise (a INT)');
  await c.beginTransaction();
  await c.execute('INSERT INTO tx_promise VALUES (?)', [1]);
  await c.rollback();
  await c.beginTransaction();
  await c.execute('INSERT INTO tx_promise VALUES (?)', [2]);
  await c.commit();
  return (await c.query('SELECT * FROM tx_promise'))[0];
});
test('transaction: consistent snapshot', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await table(a, 'tx_snapshot');
  await rows(a, 'START TRANSACTION WITH CONSISTENT SNAPSHOT');
  await rows(b, 'DELETE FROM tx_snapshot');
  const out = await rows(a, 'SELECT COUNT(*) AS n FROM tx_snapshot');
  await rows(a, 'COMMIT');
  return [out, await rows(a, 'SELECT COUNT(*) AS n FROM tx_snapshot')];
});
test('transaction: locking reads', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await table(a, 'tx_locking');
  await rows(a, 'BEGIN');
  await rows(a, 'SELECT * FROM tx_locking WHERE id = 1 FOR UPDATE');
  const out = [await rows(b, 'SELECT * FROM tx_locking WHERE id = 1 FOR UPDATE NOWAIT').catch((e) => e.code), await rows(b, 'SELECT id FROM tx_locking ORDER BY id FOR UPDATE SKIP LOCKED')];
  await rows(a, 'COMMIT');
  out.push(await rows(b, 'SELECT v FROM tx_locking WHERE id = 1 LOCK IN SHARE MODE'));
  return out;
});
test('transaction: XA', async (scope) => {
  const c = open(scope);
  await table(c, 'tx_xa');
  const out = [];
  for (const sql of ["XA START 'suite'", 'UPDATE tx_xa SET v = 5', "XA END 'suite'", "XA PREPARE 'suite'", "XA COMMIT 'suite'", 'SELECT * FROM tx_xa']) out.push([sql, await rows(c, sql).catch((e) => [e.code, e.sqlMessage])]);
  return out;
});
