'use strict';
require('reflect-metadata');
const assert = require('assert/strict');
const { DataSource, EntitySchema, In } = require('typeorm');
const { test, endpoint, go } = require('harness');

const Order = new EntitySchema({
  name: 'Order', tableName: 'test_order',
  columns: {
    order_id: { type: 'bigint', primary: true, generated: true }, order_no: { type: 'bigint', insert: false, nullable: true }, buyer_uid: { type: 'bigint' }, amount: { type: 'decimal', precision: 12, scale: 2 },
    status: { type: 'varchar', length: 16, default: 'new' }, version: { type: 'bigint', insert: false, update: false, nullable: true },
  },
});
const open = async (scope) => {
  const ds = new DataSource({ type: 'mysql', connectorPackage: 'mysql2', ...endpoint, username: endpoint.user, entities: [Order], supportBigNumbers: true, bigNumberStrings: true });
  scope.defer(() => ds.destroy());
  await ds.initialize();
  return { ds, orders: ds.getRepository('Order') };
};
// TypeORM adds a row's index to the ID that it hears of, and to a string it adds
// a digit: save() and insert() tell a wrong ID where the driver gives it as one.
// What the driver said is in raw.
const place = async (orders, order) => (await orders.createQueryBuilder().insert().values(order).updateEntity(false).execute()).raw.insertId;

let next = 3000;
const buyers = (n) => Array.from({ length: n }, () => String(next++));
const ordered = (orders, list) => Promise.all(list.map(async (buyer_uid) => {
  const order_id = await place(orders, { buyer_uid, amount: '12.50' });
  return orders.findOneBy({ order_id });
}));

test('insert: the stamped ID comes back', async (scope) => {
  const { orders } = await open(scope);
  const [buyer] = buyers(1);
  const order_id = await place(orders, { buyer_uid: buyer, amount: '12.50' });
  assert.ok(BigInt(order_id) > 2n ** 40n, `ID ${order_id}`);
  const found = await orders.findOneBy({ order_id });
  assert.deepEqual([found.buyer_uid, found.amount], [buyer, '12.50']);
  assert.ok(BigInt(found.order_no) > 0n);
});
test('read by owner, by number, many', async (scope) => {
  const { orders } = await open(scope);
  const all = await ordered(orders, buyers(8));
  for (const o of all) {
    assert.deepEqual((await orders.findBy({ buyer_uid: o.buyer_uid })).map((x) => x.order_id), [o.order_id]);
    assert.equal((await orders.findOneBy({ order_no: o.order_no })).order_id, o.order_id);
  }
  const ids = all.map((o) => o.order_id);
  assert.deepEqual((await orders.findBy({ order_id: In(ids) })).map((o) => o.order_id).sort(), [...ids].sort());
});
test('update and remove', async (scope) => {
  const { orders } = await open(scope);
  const [o] = await ordered(orders, buyers(1));
  assert.equal((await orders.update({ order_id: o.order_id }, { status: 'paid' })).affected, 1);
  await orders.increment({ buyer_uid: o.buyer_uid }, 'amount', 1);
  const now = await orders.findOneBy({ order_id: o.order_id });
  assert.deepEqual([now.status, now.amount], ['paid', '13.50']);
  now.status = 'sent';
  await orders.save(now);
  assert.equal((await orders.findOneBy({ order_no: o.order_no })).status, 'sent');
  assert.equal((await orders.delete({ order_id: o.order_id })).affected, 1);
  assert.equal(await orders.findOneBy({ order_id: o.order_id }), null);
});
test('a transaction of one buyer', async (scope) => {
  const { ds, orders } = await open(scope);
  const [o] = await ordered(orders, buyers(1));
  await assert.rejects(ds.transaction(async (m) => {
    await m.update('Order', { order_id: o.order_id }, { status: 'gone' });
    throw new Error('back');
  }), /back/);
  await ds.transaction(async (m) => {
    const locked = await m.findOne('Order', { where: { order_id: o.order_id }, lock: { mode: 'pessimistic_write' } });
    assert.equal(locked.status, 'new');
    await m.update('Order', { buyer_uid: o.buyer_uid }, { status: 'paid' });
  });
  assert.equal((await orders.findOneBy({ order_id: o.order_id })).status, 'paid');
});
test('count, sum and order over all shards', async (scope) => {
  const { orders } = await open(scope);
  const list = buyers(10);
  await ordered(orders, list);
  assert.equal(await orders.countBy({ buyer_uid: In(list) }), 10);
  const total = await orders.createQueryBuilder('o').select('SUM(o.amount)', 'total').where('o.buyer_uid IN (:...list)', { list }).getRawOne();
  assert.deepEqual({ ...total }, { total: '125.00' });
  const page = await orders.find({ where: { buyer_uid: In(list) }, order: { buyer_uid: 'DESC' }, take: 3, skip: 2 });
  assert.deepEqual(page.map((o) => o.buyer_uid), [...list].sort((a, b) => b - a).slice(2, 5));
  assert.ok((await orders.count()) >= 10);
});
go();
