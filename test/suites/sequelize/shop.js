'use strict';
const assert = require('assert/strict');
const { Sequelize, DataTypes, QueryTypes } = require('sequelize');
const { test, endpoint, go } = require('harness');

const open = (scope) => {
  const db = new Sequelize(endpoint.database, endpoint.user, endpoint.password, { host: endpoint.host, port: endpoint.port, dialect: 'mysql', logging: false, dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } });
  scope.defer(() => db.close());
  const Order = db.define('Order', {
    order_id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true }, order_no: DataTypes.BIGINT, buyer_uid: DataTypes.BIGINT, amount: DataTypes.DECIMAL(12, 2), status: DataTypes.STRING(16), version: DataTypes.BIGINT,
  }, { tableName: 'test_order', timestamps: false });
  return { db, Order };
};
let next = 1000;
const buyers = (n) => Array.from({ length: n }, () => String(next++));
// ordered makes an order of each buyer, read back whole.
const ordered = async ({ Order }, list) => Promise.all(list.map(async (buyer_uid) => {
  const made = await Order.create({ buyer_uid, amount: '12.50' }, { fields: ['buyer_uid', 'amount'] });
  return Order.findByPk(made.order_id);
}));

test('create: the stamped ID comes back', async (scope) => {
  const s = open(scope);
  const [buyer] = buyers(1);
  const made = await s.Order.create({ buyer_uid: buyer, amount: '12.50' }, { fields: ['buyer_uid', 'amount'] });
  assert.ok(BigInt(made.order_id) > 2n ** 40n, `ID ${made.order_id}`);
  const found = await s.Order.findByPk(made.order_id);
  assert.equal(found.buyer_uid, buyer);
  assert.equal(found.amount, '12.50');
  assert.ok(BigInt(found.order_no) > 0n);
});
test('read by owner, by number', async (scope) => {
  const s = open(scope);
  const list = buyers(8);
  for (const o of await ordered(s, list)) {
    assert.deepEqual((await s.Order.findAll({ where: { buyer_uid: o.buyer_uid } })).map((x) => x.order_id), [o.order_id]);
    assert.equal((await s.Order.findOne({ where: { order_no: o.order_no } })).order_id, o.order_id);
  }
});
test('read many by ID and by owner', async (scope) => {
  const s = open(scope);
  const all = await ordered(s, buyers(8));
  const ids = all.map((o) => o.order_id);
  assert.deepEqual((await s.Order.findAll({ where: { order_id: ids } })).map((o) => o.order_id).sort(), [...ids].sort());
  assert.equal(await s.Order.count({ where: { buyer_uid: all.map((o) => o.buyer_uid) } }), 8);
});
test('update, increment and delete', async (scope) => {
  const s = open(scope);
  const [o] = await ordered(s, buyers(1));
  await o.update({ status: 'paid' });
  assert.equal((await s.Order.findByPk(o.order_id)).status, 'paid');
  assert.deepEqual(await s.Order.update({ status: 'sent' }, { where: { buyer_uid: o.buyer_uid } }), [1]);
  await s.Order.increment('amount', { by: 1, where: { order_id: o.order_id } });
  assert.equal((await s.Order.findByPk(o.order_id)).amount, '13.50');
  await o.destroy();
  assert.equal(await s.Order.findByPk(o.order_id), null);
});
test('a transaction of one buyer', async (scope) => {
  const s = open(scope);
  const [o] = await ordered(s, buyers(1));
  await assert.rejects(s.db.transaction(async (transaction) => {
    await s.Order.update({ status: 'gone' }, { where: { order_id: o.order_id }, transaction });
    throw new Error('back');
  }), /back/);
  assert.equal((await s.Order.findByPk(o.order_id)).status, 'new');
  await s.db.transaction(async (transaction) => {
    const locked = await s.Order.findByPk(o.order_id, { transaction, lock: true });
    await locked.update({ status: 'paid' }, { transaction });
  });
  assert.equal((await s.Order.findByPk(o.order_id)).status, 'paid');
});
test('count, sum and order over all shards', async (scope) => {
  const s = open(scope);
  const before = await s.Order.count();
  const all = await ordered(s, buyers(10));
  assert.equal(await s.Order.count(), before + 10);
  const [{ n, total }] = await s.db.query('SELECT COUNT(*) AS n, SUM(amount) AS total FROM test_order WHERE buyer_uid IN (:b)', { replacements: { b: all.map((o) => o.buyer_uid) }, type: QueryTypes.SELECT });
  assert.deepEqual([Number(n), total], [10, '125.00']);
  const page = await s.Order.findAll({ where: { buyer_uid: all.map((o) => o.buyer_uid) }, order: [['buyer_uid', 'DESC']], limit: 3, offset: 2 });
  assert.deepEqual(page.map((o) => o.buyer_uid), all.map((o) => o.buyer_uid).sort((a, b) => b - a).slice(2, 5));
});
test('items beside their order', async (scope) => {
  const s = open(scope);
  const Item = s.db.define('Item', { item_id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true }, order_id: DataTypes.BIGINT, product_id: DataTypes.BIGINT, quantity: DataTypes.INTEGER }, { tableName: 'order_item', timestamps: false });
  s.Order.hasMany(Item, { foreignKey: 'order_id', sourceKey: 'order_id', as: 'items' });
  const [o] = await ordered(s, buyers(1));
  for (const product_id of [1, 2]) await Item.create({ order_id: o.order_id, product_id, quantity: product_id });
  const found = await s.Order.findByPk(o.order_id, { include: ['items'] });
  assert.deepEqual(found.items.map((i) => i.quantity).sort(), [1, 2]);
});
go();
