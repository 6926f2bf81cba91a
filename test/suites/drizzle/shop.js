'use strict';
const assert = require('assert/strict');
const mysql2 = require('mysql2/promise');
const { drizzle } = require('drizzle-orm/mysql2');
const m = require('drizzle-orm/mysql-core');
const { relations, sql, eq, gt, and, inArray, asc, desc, count, sum } = require('drizzle-orm');
const { test, endpoint, engine, go } = require('harness');

const big = (name) => m.bigint(name, { mode: 'bigint' });
const orders = m.mysqlTable('test_order', { orderId: big('order_id').primaryKey(), orderNo: big('order_no'), buyer: big('buyer_uid'), amount: m.decimal({ precision: 12, scale: 2 }), status: m.varchar({ length: 16 }), version: big('version') });
const items = m.mysqlTable('order_item', { itemId: big('item_id').primaryKey(), orderId: big('order_id'), productId: big('product_id'), quantity: m.int(), price: m.decimal({ precision: 12, scale: 2 }) });
const products = m.mysqlTable('product', { productId: big('product_id').primaryKey(), name: m.varchar({ length: 64 }), price: m.decimal({ precision: 12, scale: 2 }) });
const schema = {
  orders, items, products,
  ordersRelations: relations(orders, ({ many }) => ({ items: many(items) })),
  itemsRelations: relations(items, ({ one }) => ({ order: one(orders, { fields: [items.orderId], references: [orders.orderId] }), product: one(products, { fields: [items.productId], references: [products.productId] }) })),
};
let next = 9000n;
const buyers = (n) => Array.from({ length: n }, () => next++);
const on = (name, run) => test(name, async (scope) => {
  const pool = mysql2.createPool({ ...endpoint, supportBigNumbers: true, bigNumberStrings: true, connectionLimit: 5 });
  scope.defer(() => pool.end());
  await run(drizzle(pool, { schema, mode: 'planetscale' }));
});
// Fields that are left out get the proxy's values: drizzle writes DEFAULT for them.
const ordered = async (db, list) => {
  const out = [];
  for (const buyer of list) {
    const [{ insertId }] = await db.insert(orders).values({ buyer, amount: '12.50', status: 'new' });
    out.push((await db.select().from(orders).where(eq(orders.orderId, BigInt(insertId))))[0]);
  }
  return out;
};

on('insert, and read by owner, ID and number', async (db) => {
  for (const o of await ordered(db, buyers(8))) {
    assert.ok(o.orderId > 2n ** 40n);
    for (const w of [eq(orders.buyer, o.buyer), eq(orders.orderNo, o.orderNo), eq(orders.orderId, o.orderId)]) {
      assert.equal((await db.select().from(orders).where(w))[0].orderId, o.orderId);
    }
  }
});
on('rows of several owners in one insert', async (db) => {
  const list = buyers(9);
  const [{ affectedRows }] = await db.insert(orders).values(list.map((buyer) => ({ buyer, amount: '1.00' })));
  assert.equal(affectedRows, 9);
  const found = await db.select().from(orders).where(inArray(orders.buyer, list));
  assert.deepEqual([found.length, new Set(found.map((o) => o.orderId)).size], [9, 9]);
});
on('update, delete, upsert', async (db) => {
  const [o] = await ordered(db, buyers(1));
  const own = eq(orders.orderId, o.orderId);
  await db.update(orders).set({ status: 'paid', amount: sql`${orders.amount} + 1` }).where(own);
  assert.deepEqual(await db.select({ s: orders.status, a: orders.amount, v: orders.version }).from(orders).where(own), [{ s: 'paid', a: '13.50', v: 2n }]);
  await db.insert(orders).values({ ...o, amount: '99' }).onDuplicateKeyUpdate({ set: { amount: '99' } });
  assert.equal((await db.select().from(orders).where(eq(orders.buyer, o.buyer)))[0].amount, '99.00');
  assert.equal((await db.delete(orders).where(own))[0].affectedRows, 1);
  await assert.rejects(db.delete(orders).where(eq(orders.status, 'none')), (e) => /locus-/.test((e.cause || e).message));
});
on('items of orders: relations and joins', async (db) => {
  await db.insert(products).values([1n, 2n, 3n].map((productId) => ({ productId, name: `p${productId}`, price: String(productId) })));
  const list = buyers(6);
  const all = await ordered(db, list);
  for (const [i, o] of all.entries()) await db.insert(items).values([1n, 2n, 3n].map((productId) => ({ orderId: o.orderId, productId, quantity: i, price: String(productId) })));
  if (engine === 'mysql') { // MariaDB does not read what drizzle writes for relations
    const found = await db.query.orders.findMany({ where: inArray(orders.buyer, list), orderBy: asc(orders.buyer), with: { items: { orderBy: asc(items.productId), columns: { quantity: true }, with: { product: { columns: { name: true } } } } } });
    assert.deepEqual(found.map((o) => o.items), list.map((_, i) => [1, 2, 3].map((p) => ({ quantity: i, product: { name: `p${p}` } }))));
  }
  const sums = await db.select({ buyer: orders.buyer, s: sum(sql`${items.quantity} * ${items.price}`) }).from(orders).innerJoin(items, eq(items.orderId, orders.orderId)).where(inArray(orders.buyer, list)).groupBy(orders.buyer).orderBy(orders.buyer);
  assert.deepEqual(sums, list.map((buyer, i) => ({ buyer, s: (6 * i).toFixed(2) })));
});
on('counts and pages over the shards', async (db) => {
  const list = buyers(10);
  await ordered(db, list);
  const mine = inArray(orders.buyer, list);
  assert.deepEqual(await db.select({ n: count(), s: sum(orders.amount) }).from(orders).where(mine), [{ n: 10, s: '125.00' }]);
  const page = (n) => db.select({ b: orders.buyer }).from(orders).where(mine).orderBy(desc(orders.buyer)).limit(4).offset(4 * n);
  const got = (await Promise.all([0, 1, 2, 3].map(page))).flat().map((r) => r.b);
  assert.deepEqual(got, [...list].reverse());
  assert.equal((await db.select().from(orders).where(and(mine, gt(orders.buyer, list[6])))).length, 3);
});
on('transactions of two buyers, with nested savepoints', async (db) => {
  const [a, b] = await ordered(db, buyers(2));
  const pay = (d, o, status) => d.update(orders).set({ status }).where(eq(orders.orderId, o.orderId));
  const states = async () => (await Promise.all([a, b].map((o) => db.select().from(orders).where(eq(orders.orderId, o.orderId))))).map(([o]) => o.status);
  await db.transaction(async (t) => {
    await pay(t, a, 'paid');
    await t.transaction(async (inner) => {
      await pay(inner, b, 'lost');
      await inner.transaction((deep) => pay(deep, a, 'lost'));
      inner.rollback();
    }).catch(() => {});
    await t.transaction((inner) => pay(inner, b, 'packed'));
  });
  assert.deepEqual(await states(), ['paid', 'packed']);
  await assert.rejects(db.transaction(async (t) => { await pay(t, a, 'gone'); await pay(t, b, 'gone'); throw new Error('back'); }), /back/);
  assert.deepEqual(await states(), ['paid', 'packed']);
});
on('prepared statements', async (db) => {
  const all = await ordered(db, buyers(5));
  const q = db.select().from(orders).where(eq(orders.buyer, sql.placeholder('buyer'))).prepare();
  for (const o of all) assert.deepEqual(await q.execute({ buyer: o.buyer }), [o]);
});
go();
