'use strict';
const assert = require('assert/strict');
const { Kysely, MysqlDialect, sql } = require('kysely');
const { createPool } = require('mysql2');
const { test, endpoint, go } = require('harness');

let next = 7000;
const buyers = (n) => Array.from({ length: n }, () => String(next++));
const on = (name, run) => test(name, async (scope) => {
  const db = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ ...endpoint, supportBigNumbers: true, bigNumberStrings: true, connectionLimit: 5 }) }) });
  scope.defer(() => db.destroy());
  await run(db);
});
const ordered = async (db, list) => {
  const out = [];
  for (const buyer_uid of list) {
    const { insertId } = await db.insertInto('test_order').values({ buyer_uid, amount: '12.50' }).executeTakeFirstOrThrow();
    out.push(await db.selectFrom('test_order').selectAll().where('order_id', '=', String(insertId)).executeTakeFirstOrThrow());
  }
  return out;
};

on('insert, and read by owner, ID and number', async (db) => {
  for (const o of await ordered(db, buyers(8))) {
    for (const key of ['buyer_uid', 'order_id', 'order_no']) {
      assert.equal((await db.selectFrom('test_order').select('order_id').where(key, '=', o[key]).executeTakeFirstOrThrow()).order_id, o.order_id);
    }
  }
});
on('update, delete and transactions', async (db) => {
  const [o] = await ordered(db, buyers(1));
  const own = (q) => q.where('order_id', '=', o.order_id);
  assert.equal((await own(db.updateTable('test_order').set({ status: 'paid' })).executeTakeFirst()).numUpdatedRows, 1n);
  await assert.rejects(db.transaction().execute(async (t) => {
    await own(t.updateTable('test_order').set({ status: 'gone' })).execute();
    throw new Error('back');
  }), /back/);
  assert.equal((await own(db.selectFrom('test_order').select('status')).executeTakeFirst()).status, 'paid');
  assert.equal((await own(db.deleteFrom('test_order')).executeTakeFirst()).numDeletedRows, 1n);
});
on('aggregates, order, and a common table expression that is read twice', async (db) => {
  const list = buyers(10);
  await ordered(db, list);
  const mine = db.selectFrom('test_order').where('buyer_uid', 'in', list);
  const sums = await mine.select((eb) => [eb.fn.countAll().as('n'), eb.fn.sum('amount').as('s')]).executeTakeFirstOrThrow();
  assert.deepEqual([Number(sums.n), sums.s], [10, '125.00']);
  assert.deepEqual((await mine.select('buyer_uid').orderBy('buyer_uid', 'desc').limit(3).offset(2).execute()).map((r) => String(r.buyer_uid)), [...list].reverse().slice(2, 5));
  const twice = await db.with('m', () => mine.select(['order_id', 'amount'])).selectFrom('m as a').innerJoin('m as b', 'a.amount', 'b.amount').select((eb) => eb.fn.countAll().as('n')).executeTakeFirstOrThrow();
  assert.equal(Number(twice.n), 100);
});
on('several owners in one insert', async (db) => {
  const list = buyers(6);
  await db.insertInto('test_order').values(list.map((buyer_uid) => ({ buyer_uid, amount: '1.00' }))).execute();
  assert.equal((await sql`SELECT DISTINCT buyer_uid FROM test_order WHERE buyer_uid IN (${sql.join(list)})`.execute(db)).rows.length, 6);
});
go();
