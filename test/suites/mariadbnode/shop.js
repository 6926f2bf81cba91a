'use strict';
const assert = require('assert/strict');
const mariadb = require('mariadb');
const { test, endpoint, go } = require('harness');

let next = 8000;
const buyers = (n) => Array.from({ length: n }, () => next++);
const on = (name, run) => test(name, async (scope) => {
  const c = await mariadb.createConnection(endpoint);
  scope.defer(() => c.end());
  await run(c);
});

on('insert, and read by owner, ID and number', async (c) => {
  for (const buyer of buyers(8)) {
    const { insertId } = await c.execute('INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)', [buyer, '12.50']);
    const [o] = await c.query('SELECT * FROM test_order WHERE order_id = ?', [insertId]);
    assert.equal(BigInt(o.buyer_uid), BigInt(buyer));
    for (const key of ['buyer_uid', 'order_no']) {
      assert.equal((await c.execute(`SELECT order_id FROM test_order WHERE ${key} = ?`, [o[key]]))[0].order_id, o.order_id);
    }
  }
});
on('a batch of rows of several owners', async (c) => {
  const list = buyers(20);
  await c.batch('INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)', list.map((b) => [b, '2.50']));
  const [sums] = await c.query('SELECT COUNT(*) AS n, SUM(amount) AS s FROM test_order WHERE buyer_uid IN (?)', [list]);
  assert.deepEqual([Number(sums.n), String(sums.s)], [20, '50.00']);
});
on('a transaction of two owners', async (c) => {
  const [a, b] = buyers(2);
  for (const end of ['rollback', 'commit']) {
    await c.beginTransaction();
    for (const buyer of [a, b]) await c.query('INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)', [buyer]);
    await c[end]();
    assert.equal((await c.query('SELECT order_id FROM test_order WHERE buyer_uid IN (?, ?)', [a, b])).length, end === 'commit' ? 2 : 0);
  }
});
on('a stream of sorted rows of all shards', async (c) => {
  const list = buyers(15);
  await c.batch('INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)', list.map((b) => [b]));
  const seen = [];
  for await (const row of c.queryStream('SELECT buyer_uid FROM test_order WHERE buyer_uid IN (?) ORDER BY buyer_uid DESC', [list])) seen.push(Number(row.buyer_uid));
  assert.deepEqual(seen, [...list].reverse());
});
go();
