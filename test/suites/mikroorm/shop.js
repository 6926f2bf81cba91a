'use strict';
const assert = require('assert/strict');
const { BigIntType, EntitySchema, Collection, LockMode, raw } = require('@mikro-orm/core');
const { MikroORM } = require('@mikro-orm/mysql');
const { test, endpoint, go } = require('harness');

class Order { items = new Collection(this); amount = '12.50'; status = 'new'; }
class Item {}
class Product {}
const money = { type: 'decimal', precision: 12, scale: 2 };
const entities = [
  new EntitySchema({
    class: Order, tableName: 'test_order',
    properties: {
      id: { type: 'bigint', primary: true, autoincrement: true, fieldName: 'order_id' }, number: { type: 'bigint', fieldName: 'order_no', persist: false, nullable: true }, buyer: { type: new BigIntType('string'), fieldName: 'buyer_uid' }, amount: money, status: { type: 'string' },
      items: { kind: '1:m', entity: 'Item', mappedBy: 'order', orderBy: { product: 'asc' } },
    },
  }),
  new EntitySchema({
    class: Item, tableName: 'order_item',
    properties: {
      id: { type: 'bigint', primary: true, autoincrement: true, fieldName: 'item_id' }, order: { kind: 'm:1', entity: 'Order', fieldName: 'order_id', inversedBy: 'items' }, product: { kind: 'm:1', entity: 'Product', fieldName: 'product_id' }, quantity: { type: 'integer' }, price: money,
    },
  }),
  new EntitySchema({ class: Product, tableName: 'product', properties: { id: { type: 'bigint', primary: true, autoincrement: false, fieldName: 'product_id' }, name: { type: 'string' }, price: money } }),
];
let next = 13000;
const buyers = (n) => Array.from({ length: n }, () => String(next++));
const options = { entities, host: endpoint.host, port: endpoint.port, user: endpoint.user, password: endpoint.password, dbName: endpoint.database, pool: { min: 0, max: 5 } };
let started;
const on = (name, run) => test(name, async () => {
  started ??= MikroORM.init(options);
  await run((await started).em.fork());
});
// One flush for each order, because MikroORM computes the IDs of the other rows of an insert from the first one.
const ordered = async (em, list) => {
  const out = [];
  for (const buyer of list) {
    out.push(em.create(Order, { buyer, amount: '12.50', status: 'new' }));
    await em.flush();
  }
  return out;
};

on('generated IDs come back, and find the order, as do owner and number', async (em) => {
  for (const o of await ordered(em, buyers(8))) {
    assert.ok(BigInt(o.id) > 2n ** 40n);
    const [{ order_no }] = await em.execute('select order_no from test_order where order_id = ?', [o.id]);
    for (const where of [{ id: o.id }, { buyer: o.buyer }, { number: String(order_no) }]) assert.equal((await em.fork().findOneOrFail(Order, where)).id, o.id);
  }
});
on('rows of several buyers in one insert', async (em) => {
  const list = buyers(9);
  const ids = await em.insertMany(Order, list.map((buyer) => ({ buyer, amount: '1.00', status: 'new' })));
  const found = await em.fork().find(Order, { buyer: list }, { orderBy: { buyer: 'asc' } });
  assert.deepEqual(found.map((o) => String(o.buyer)), list);
  assert.equal(new Set(found.map((o) => o.id)).size, 9);
  // MikroORM computes the other IDs from the first one, of which generated IDs are independent.
  assert.equal(String(ids[0]), String(found[0].id));
  assert.notDeepEqual(ids.map(String), found.map((o) => String(o.id)));
});
on('update, remove, refused writes', async (em) => {
  const [o, other] = await ordered(em, buyers(2));
  o.status = 'paid';
  await em.flush();
  assert.equal(await em.nativeUpdate(Order, { id: o.id }, { amount: raw('amount + 1') }), 1);
  await em.refresh(o);
  assert.deepEqual([o.status, o.amount], ['paid', '13.50']);
  await em.removeAndFlush(o);
  assert.equal(await em.fork().findOne(Order, { id: o.id }), null);
  assert.equal(await em.nativeDelete(Order, { buyer: other.buyer }), 1);
  await assert.rejects(em.nativeDelete(Order, { status: 'none' }), /locus-/);
});
on('items of orders: populate, joins, products', async (em) => {
  await em.insertMany(Product, ['1', '2', '3'].map((id) => ({ id, name: `p${id}`, price: `${id}.00` })));
  const list = buyers(6);
  const all = await ordered(em, list);
  for (const [i, order] of all.entries()) await em.insertMany(Item, ['1', '2', '3'].map((product) => ({ order: order.id, product, quantity: i, price: product })));
  for (const strategy of ['joined', 'select-in']) {
    const found = await em.fork().find(Order, { buyer: list }, { populate: ['items.product'], strategy, orderBy: { buyer: 'asc' } });
    assert.deepEqual(found.map((o) => o.items.getItems().map((x) => [x.product.name, x.quantity])), list.map((_, i) => [['p1', i], ['p2', i], ['p3', i]]));
  }
  assert.deepEqual((await em.fork().find(Order, { buyer: list, items: { quantity: { $gt: 3 } } }, { orderBy: { buyer: 'asc' } })).map((o) => String(o.buyer)), list.slice(4));
  assert.equal(await em.nativeDelete(Item, { order: all[0].id }), 3);
});
on('counts, sums and pages over the shards', async (em) => {
  const list = buyers(10);
  await ordered(em, list);
  const m = em.fork();
  const [found, total] = await m.findAndCount(Order, { buyer: list }, { orderBy: { buyer: 'desc' }, limit: 4, offset: 4 });
  assert.deepEqual([found.map((o) => String(o.buyer)), total], [[...list].reverse().slice(4, 8), 10]);
  const [{ s }] = await m.createQueryBuilder(Order, 'o').select(raw('sum(o.amount) as s')).where({ buyer: list }).execute('all', false);
  assert.equal(s, '125.00');
  const first = await m.findByCursor(Order, { buyer: list }, { first: 3, orderBy: { buyer: 'asc' } });
  const second = await m.findByCursor(Order, { buyer: list }, { first: 3, after: first, orderBy: { buyer: 'asc' } });
  assert.deepEqual([...first.items, ...second.items].map((o) => String(o.buyer)), list.slice(0, 6));
});
on('transactions of two buyers, with nested savepoints', async (em) => {
  const [a, b] = await ordered(em, buyers(2));
  const pay = (m, o, status) => m.nativeUpdate(Order, { id: o.id }, { status });
  const states = () => Promise.all([a, b].map(async (o) => (await em.fork().findOneOrFail(Order, o.id)).status));
  await em.fork().transactional(async (t) => {
    await pay(t, a, 'paid');
    await t.transactional(async (inner) => {
      await pay(inner, b, 'lost');
      await inner.transactional((deep) => pay(deep, a, 'lost'));
      throw new Error('back');
    }).catch(() => {});
    await t.transactional((inner) => pay(inner, b, 'packed'));
    assert.equal((await t.findOneOrFail(Order, a.id, { lockMode: LockMode.PESSIMISTIC_WRITE })).status, 'paid');
  });
  assert.deepEqual(await states(), ['paid', 'packed']);
  await assert.rejects(em.fork().transactional(async (t) => { await pay(t, a, 'gone'); await pay(t, b, 'gone'); throw new Error('back'); }), /back/);
  assert.deepEqual(await states(), ['paid', 'packed']);
});
go();
