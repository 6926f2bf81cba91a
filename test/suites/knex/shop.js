'use strict';
const assert = require('assert/strict');
const Knex = require('knex');
const { test, endpoint, go } = require('harness');

const open = (scope) => {
  const k = Knex({ client: 'mysql2', connection: { ...endpoint, supportBigNumbers: true, bigNumberStrings: true }, pool: { min: 0, max: 5 } });
  scope.defer(() => k.destroy());
  return k;
};
let next = 2000;
const buyers = (n) => Array.from({ length: n }, () => String(next++));
const ordered = (k, list) => Promise.all(list.map(async (buyer_uid) => {
  const [id] = await k('test_order').insert({ buyer_uid, amount: '12.50' });
  return k('test_order').where({ order_id: id }).first();
}));

test('insert: the stamped ID comes back', async (scope) => {
  const k = open(scope);
  const [buyer] = buyers(1);
  const [id] = await k('test_order').insert({ buyer_uid: buyer, amount: '12.50' });
  assert.ok(BigInt(id) > 2n ** 40n, `ID ${id}`);
  const o = await k('test_order').where({ order_id: id }).first();
  assert.deepEqual([String(o.order_id), o.amount], [String(id), '12.50']);
  assert.equal(String(o.buyer_uid), buyer);
});
test('read by owner, by number, many', async (scope) => {
  const k = open(scope);
  const all = await ordered(k, buyers(8));
  for (const o of all) {
    assert.deepEqual(await k('test_order').where({ buyer_uid: o.buyer_uid }).pluck('order_id'), [o.order_id]);
    assert.equal((await k('test_order').where({ order_no: o.order_no }).first()).order_id, o.order_id);
  }
  assert.deepEqual((await k('test_order').whereIn('order_id', all.map((o) => o.order_id)).pluck('order_id')).sort(), all.map((o) => o.order_id).sort());
});
test('update and delete', async (scope) => {
  const k = open(scope);
  const [o] = await ordered(k, buyers(1));
  assert.equal(await k('test_order').where({ order_id: o.order_id }).update({ status: 'paid' }), 1);
  assert.equal(await k('test_order').where({ buyer_uid: o.buyer_uid }).increment('amount', 1), 1);
  assert.deepEqual(await k('test_order').where({ order_no: o.order_no }).first('status', 'amount'), { status: 'paid', amount: '13.50' });
  assert.equal(await k('test_order').where({ order_id: o.order_id }).del(), 1);
  assert.equal(await k('test_order').where({ order_id: o.order_id }).first(), undefined);
});
test('a transaction of one buyer', async (scope) => {
  const k = open(scope);
  const [o] = await ordered(k, buyers(1));
  await assert.rejects(k.transaction(async (trx) => {
    await trx('test_order').where({ order_id: o.order_id }).update({ status: 'gone' });
    throw new Error('back');
  }), /back/);
  await k.transaction(async (trx) => {
    const locked = await trx('test_order').where({ order_id: o.order_id }).forUpdate().first();
    assert.equal(locked.status, 'new');
    await trx('test_order').where({ buyer_uid: o.buyer_uid }).update({ status: 'paid' });
  });
  assert.equal((await k('test_order').where({ order_id: o.order_id }).first()).status, 'paid');
});
test('count, sum and order over all shards', async (scope) => {
  const k = open(scope);
  const list = buyers(10);
  await ordered(k, list);
  const [{ n, total }] = await k('test_order').whereIn('buyer_uid', list).count('* as n').sum('amount as total');
  assert.deepEqual([Number(n), total], [10, '125.00']);
  const page = await k('test_order').whereIn('buyer_uid', list).orderBy('buyer_uid', 'desc').limit(3).offset(2).pluck('buyer_uid');
  assert.deepEqual(page.map(String), [...list].sort((a, b) => b - a).slice(2, 5));
  assert.ok(Number((await k('test_order').count('* as n'))[0].n) >= 10);
});
test('many rows in one insert', async (scope) => {
  const k = open(scope);
  const [buyer] = buyers(1);
  await k('test_order').insert([1, 2, 3].map((n) => ({ buyer_uid: buyer, amount: n })));
  assert.deepEqual(await k('test_order').where({ buyer_uid: buyer }).sum('amount as s').first(), { s: '6.00' });
});
test('migrations make, alter and drop sharded tables', async (scope) => {
  const k = open(scope);
  const steps = {
    '1_make': {
      up: (m) => m.schema.createTable('parcel', (t) => {
        t.increments('id');
        t.bigInteger('buyer_uid').notNullable().index();
        t.string('note', 20);
        t.comment('locus: owner=buyer_uid');
      }),
      down: (m) => m.schema.dropTable('parcel'),
    },
    '2_alter': {
      up: (m) => m.schema.alterTable('parcel', (t) => {
        t.integer('weight').notNullable().defaultTo(7);
        t.index(['weight'], 'by_weight');
        t.string('note', 40).alter();
      }),
      down: (m) => m.schema.alterTable('parcel', (t) => {
        t.dropIndex(['weight'], 'by_weight');
        t.dropColumn('weight');
      }),
    },
    '3_rename': {
      up: (m) => m.schema.renameTable('parcel', 'crate'),
      down: (m) => m.schema.renameTable('crate', 'parcel'),
    },
  };
  const migrationSource = { getMigrations: async () => Object.keys(steps), getMigrationName: (name) => name, getMigration: async (name) => steps[name] };
  assert.deepEqual((await k.migrate.latest({ migrationSource }))[1], ['1_make', '2_alter', '3_rename']);
  const list = buyers(12);
  for (const buyer_uid of list) await k('crate').insert({ buyer_uid, note: `for ${buyer_uid}` });
  assert.equal(new Set(await k('crate').pluck('id')).size, 12);
  assert.deepEqual(await k('crate').where({ buyer_uid: list[5] }).first('note', 'weight'), { note: `for ${list[5]}`, weight: 7 });
  assert.deepEqual(Object.keys(await k('crate').columnInfo()).sort(), ['buyer_uid', 'id', 'note', 'weight']);
  assert.ok(await k.schema.hasColumn('crate', 'weight'));
  assert.equal(await k.migrate.currentVersion({ migrationSource }), '3');
  await k.migrate.down({ migrationSource });
  assert.deepEqual([await k.schema.hasTable('crate'), await k.schema.hasColumn('parcel', 'weight')], [false, true]);
  await k.migrate.down({ migrationSource });
  assert.ok(!(await k.schema.hasColumn('parcel', 'weight')));
  assert.equal(Number((await k('parcel').count('* as n').first()).n), 12);
  await k.migrate.rollback({ migrationSource }, true);
  assert.ok(!(await k.schema.hasTable('parcel')));
  await k.migrate.latest({ migrationSource }); // what is declared stays, and the table comes back
  assert.equal(Number((await k('crate').count('* as n').first()).n), 0);
  await k.migrate.rollback({ migrationSource }, true);
});
go();
