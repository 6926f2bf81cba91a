'use strict';
// MikroORM on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
const { EntitySchema, Collection, LockMode, IsolationLevel, raw } = require('@mikro-orm/core');
const { MikroORM } = require('@mikro-orm/mysql');
const { Migrator, Migration } = require('@mikro-orm/migrations');
const { test, endpoint, refused, go } = require('harness');

const id = { type: 'bigint', primary: true, autoincrement: true };
const owner = { kind: 'm:1', entity: 'User', fieldName: 'user_id' };
class User {
  orders = new Collection(this);
  tags = new Collection(this);
  active = true;
}
class Order { items = new Collection(this); status = 'new'; }
class Item {}
class Tag {}
const entities = [
  new EntitySchema({
    class: User, tableName: 'users', comment: 'locus: owner=id',
    properties: {
      id, name: { type: 'string', length: 40 }, age: { type: 'integer', nullable: true }, active: { type: 'boolean' },
      orders: { kind: '1:m', entity: 'Order', mappedBy: 'user', orderBy: { amount: 'asc' } },
      tags: { kind: 'm:n', entity: 'Tag', pivotTable: 'user_tags', joinColumn: 'user_id', inverseJoinColumn: 'tag_id', createForeignKeyConstraint: false },
    },
  }),
  new EntitySchema({
    class: Order, tableName: 'orders', comment: 'locus: owner=user_id',
    properties: {
      id, user: { ...owner, inversedBy: 'orders' }, status: { type: 'string', length: 16 }, amount: { type: 'decimal', precision: 12, scale: 2 }, version: { type: 'integer', version: true },
      items: { kind: '1:m', entity: 'Item', mappedBy: 'order', orderBy: { sku: 'asc' } },
    },
  }),
  new EntitySchema({
    class: Item, tableName: 'items', comment: 'locus: owner=user_id',
    properties: { id, user: owner, order: { kind: 'm:1', entity: 'Order', inversedBy: 'items', createForeignKeyConstraint: false }, sku: { type: 'string', length: 30 }, quantity: { type: 'integer' } },
  }),
  new EntitySchema({ class: Tag, tableName: 'tags', comment: 'locus: global', properties: { id, name: { type: 'string', length: 20, unique: true } } }),
];

const open = (more) => MikroORM.init({
  entities, host: endpoint.host, port: endpoint.port, user: endpoint.user, password: endpoint.password, dbName: endpoint.database, timezone: 'Z', pool: { min: 0, max: 5 },
  discovery: { warnWhenNoEntities: false }, extensions: [Migrator], ...more,
});
const start = async () => {
  const orm = await open();
  // The table between users and tags has no entity, and so no comment.
  const statements = (await orm.schema.getCreateSchemaSQL()).replace(/(create table `user_tags` [^;]*)/, "$1 comment = 'locus: owner=user_id'");
  await orm.schema.execute(statements);
  return orm;
};
let started;
const on = (name, run) => test(name, async (scope) => {
  started ??= start();
  const orm = await started;
  return run(orm.em.fork(), orm, scope);
});
// people makes users of a case, each with as many orders as its place in the list, of two items each.
const people = async (em, kind, n = 6) => {
  const users = [];
  for (let i = 0; i < n; i++) {
    const user = em.create(User, { name: `${kind}${i}`, age: i === 3 ? null : 20 + i, active: true });
    await em.persistAndFlush(user);
    for (let k = 0; k < i; k++) {
      const order = em.create(Order, { user, amount: (1.25 * (k + 1)).toFixed(2), status: k % 2 ? 'paid' : 'new', version: 1 });
      await em.persistAndFlush(order);
      for (const x of [0, 1]) em.create(Item, { user, order, sku: `${kind}-${i}-${k}-${x}`, quantity: x + 1 });
      await em.flush();
    }
    users.push(user);
  }
  em.clear();
  return users.map((u) => u.id);
};
const of = (kind) => ({ name: { $like: `${kind}%` } });
const names = (users) => users.map((u) => u.name);

on('persist, find, refresh, update, remove', async (em) => {
  const u = em.create(User, { name: 'persist', age: 5, active: true });
  await em.persistAndFlush(u);
  const out = [Number(u.id) > 0, (await em.findOne(User, u.id)) === u];
  em.clear();
  const found = await em.findOneOrFail(User, { name: 'persist' });
  out.push([found.age, found.active, found.id === u.id, await em.findOne(User, '-1'), await em.count(User, { name: 'persist' })]);
  found.age = 6;
  await em.flush();
  await em.nativeUpdate(User, { id: found.id }, { age: 7 });
  await em.refresh(found);
  out.push(found.age);
  await em.removeAndFlush(found);
  return [...out, await em.find(User, { name: 'persist' }), await refused(em.findOneOrFail(User, { name: 'persist' })).then(() => 'none')];
});
on('a unit of work of many users', async (em) => {
  const made = Array.from({ length: 12 }, (_, i) => em.create(User, { name: `unit${String(i).padStart(2, '0')}`, age: i, active: true }));
  await em.flush();
  const right = [];
  for (const u of made) right.push((await em.fork().findOne(User, u.id))?.name === u.name);
  for (const u of made) u.age += 100;
  await em.flush();
  em.clear();
  return [right, (await em.find(User, of('unit'), { orderBy: { name: 'asc' } })).map((u) => [u.name, u.age])];
});
on('insertMany, upsert, upsertMany', async (em) => {
  const many = await em.insertMany(Tag, ['a', 'b', 'c'].map((n) => ({ name: `many-${n}` })));
  const tag = await em.upsert(Tag, { name: 'many-a' });
  const tags = await em.upsertMany(Tag, [{ name: 'many-b' }, { name: 'many-d' }]);
  const [user] = await people(em, 'upsert', 1);
  const changed = await em.upsert(User, { id: user, name: 'upsert0', age: 33, active: false });
  return [many.length, tag.name, tags.map((t) => t.name), changed.age, await em.count(Tag, { name: { $like: 'many%' } }), (await em.fork().findOne(User, user)).age];
});
on('where', async (em) => {
  await people(em, 'where');
  const out = [];
  for (const w of [
    { age: { $gt: 22 } }, { age: null }, { age: { $gte: 21, $lte: 24 } }, { name: ['where1', 'where5', 'none'] }, { name: { $nin: ['where1'] } }, { $not: { age: 22 } }, { $or: [{ age: 20 }, { age: 25 }] }, { active: true }, { name: /e[45]$/ }, { name: { $like: '%e4' } },
    { orders: { status: 'paid' } }, { orders: { $some: { amount: { $gt: 3 } } } }, { orders: { $none: { amount: { $gt: 2 } } } }, { orders: { items: { sku: { $like: '%-2-1' } } } }, { [raw('age % 2')]: 1 },
  ]) out.push(names(await em.fork().find(User, { $and: [of('where'), w] }, { orderBy: { name: 'asc' } })));
  return out;
});
on('native update and delete of many, and the query builder', async (em) => {
  const ids = await people(em, 'change');
  const out = [await em.nativeUpdate(User, { ...of('change'), age: { $gt: 21 } }, { age: raw('age + 1'), active: false }), await em.nativeUpdate(Order, { user: ids, amount: { $gt: 2 } }, { status: 'x' }), await em.nativeDelete(Item, { user: ids })];
  out.push((await em.execute('update users set age = 0 where name like ? order by name desc limit 2', ['change%'], 'run')).affectedRows);
  out.push((await em.createQueryBuilder(Order).delete({ user: ids, amount: { $gt: 5 } }).execute()).affectedRows);
  return [...out, (await em.find(User, of('change'), { orderBy: { name: 'asc' } })).map((u) => [u.name, u.age, u.active]), (await em.find(Order, { user: ids }, { orderBy: { amount: 'asc', id: 'asc' } })).map((o) => [o.amount, o.status]).sort()];
});
for (const strategy of ['joined', 'select-in', 'balanced']) {
  on(`populate by ${strategy}`, async (em) => {
    await people(em, strategy, 5);
    const users = await em.find(User, of(strategy), { populate: ['orders.items'], strategy, orderBy: { name: 'asc' } });
    const out = [users.map((u) => [u.name, u.orders.getItems().map((o) => [o.amount, o.items.getItems().map((i) => i.sku)])])];
    em.clear();
    const items = await em.find(Item, { sku: { $like: `${strategy}-%` }, quantity: 2 }, { populate: ['order.user'], strategy, orderBy: { sku: 'asc' } });
    out.push(items.map((i) => [i.sku, i.order.amount, i.order.user.name]));
    em.clear();
    const some = await em.find(User, of(strategy), { populate: ['orders'], populateWhere: { orders: { status: 'paid' } }, strategy, orderBy: { name: 'asc' } });
    return [...out, some.map((u) => u.orders.length)];
  });
}
on('collections: init, loadCount, matching, references', async (em) => {
  await people(em, 'lazy', 5);
  const u = await em.findOneOrFail(User, { name: 'lazy4' });
  const out = [u.orders.isInitialized(), await u.orders.loadCount(), await u.orders.loadCount({ where: { status: 'paid' } })];
  await u.orders.init({ orderBy: { amount: 'desc' } });
  out.push(u.orders.getItems().map((o) => o.amount), (await u.orders.matching({ where: { status: 'new' }, orderBy: { amount: 'desc' }, limit: 1 })).map((o) => o.amount));
  await em.populate([u], ['orders.items']);
  return [...out, u.orders[0].items.length, await em.find(Order, { user: { name: 'lazy2' } }, { fields: ['amount'], orderBy: { amount: 'asc' } }).then((all) => all.map((o) => o.amount))];
});
on('many to many by a global table', async (em) => {
  const ids = await people(em, 'tagged', 4);
  const tags = [];
  for (const n of ['a', 'b', 'c']) {
    tags.push(em.create(Tag, { name: `tagged-${n}` }));
    await em.flush();
  }
  const users = await em.find(User, { id: ids }, { populate: ['tags'], orderBy: { name: 'asc' } });
  users.forEach((u, i) => u.tags.add(tags.slice(0, i)));
  await em.flush();
  const shape = async () => (await em.fork().find(User, { id: ids }, { populate: ['tags'], orderBy: { name: 'asc' } })).map((u) => u.tags.getItems().map((t) => t.name).sort());
  const out = [await shape()];
  users[3].tags.removeAll();
  users[2].tags.remove(tags[0]);
  users[0].tags.set([tags[1], tags[2]]);
  await em.flush();
  return [...out, await shape(), names(await em.fork().find(User, { tags: { name: 'tagged-c' } }, { orderBy: { name: 'asc' } }))];
});
on('aggregates, groups, subqueries by the query builder', async (em) => {
  const ids = await people(em, 'group');
  const qb = (entity, alias) => em.createQueryBuilder(entity, alias);
  return [
    await qb(User, 'u').select([raw('count(*) as n'), raw('sum(u.age) as s'), raw('avg(u.age) as a'), raw('min(u.name) as lo'), raw('max(u.age) as hi')]).where(of('group')).execute('get', false),
    await qb(User, 'u').select(['u.name', raw('count(o.id) as n'), raw('sum(o.amount) as s')]).leftJoin('u.orders', 'o').where(of('group')).groupBy('u.name').having('count(o.id) > ?', [1]).orderBy({ [raw('n')]: 'desc' }).execute('all', false),
    await qb(Order, 'o').select(['o.status', raw('sum(o.amount) as s')]).where({ user: ids }).groupBy('o.status').orderBy({ status: 'asc' }).execute('all', false), await qb(Order, 'o').where({ user: ids }).getCount(), await qb(Order, 'o').select('o.amount', true).where({ user: ids }).orderBy({ amount: 'asc' }).execute('all', false),
    names(await qb(User, 'u').where({ id: { $in: qb(Order, 'p').select('p.user').where({ amount: { $gt: 3 } }).getKnexQuery() } }).andWhere(of('group')).orderBy({ name: 'asc' }).getResult()),
  ];
});
on('pages: limit, findAndCount, cursors', async (em) => {
  await people(em, 'page', 7);
  const orderBy = { age: 'desc', name: 'asc' };
  const out = [names(await em.find(User, of('page'), { orderBy, limit: 3, offset: 2 }))];
  const [found, total] = await em.findAndCount(User, of('page'), { orderBy: { name: 'asc' }, limit: 2, offset: 3, populate: ['orders'], strategy: 'joined' });
  out.push(found.map((u) => [u.name, u.orders.length]), total);
  let cursor = await em.findByCursor(User, of('page'), { first: 3, orderBy: { name: 'asc' } });
  out.push(names(cursor.items), cursor.totalCount);
  cursor = await em.findByCursor(User, of('page'), { first: 3, after: cursor, orderBy: { name: 'asc' } });
  return [...out, names(cursor.items), cursor.hasNextPage, cursor.hasPrevPage];
});
on('transactions and nested savepoints over several users', async (em) => {
  const ids = await people(em, 'trx', 4);
  const ages = async (m) => (await m.fork({ clear: true, keepTransactionContext: true }).find(User, of('trx'), { orderBy: { name: 'asc' } })).map((u) => u.age);
  const set = (m, i, age) => m.nativeUpdate(User, { id: ids[i] }, { age });
  const out = [await refused(em.transactional(async (t) => { for (const i of [0, 1, 2, 3]) await set(t, i, 1); throw new Error('back'); })), await ages(em)];
  await em.transactional(async (t) => {
    await set(t, 0, 50);
    await t.transactional(async (inner) => {
      await set(inner, 1, 51);
      await inner.transactional(async (deep) => { await set(deep, 2, 52); await set(deep, 0, 52); throw new Error('back'); }).catch(() => {});
      await set(inner, 3, 53);
    });
    out.push(await ages(t));
    await t.transactional(async (inner) => { await inner.nativeDelete(Order, { user: ids[1] }); throw new Error('back'); }).catch(() => {});
  }, { isolationLevel: IsolationLevel.READ_COMMITTED });
  const users = await em.find(User, of('trx'));
  await em.begin();
  users.forEach((u) => { u.age = 7; });
  await em.commit();
  return [...out, await ages(em), await em.count(Order, { user: ids[1] })];
});
on('optimistic and pessimistic locks', async (em) => {
  const ids = await people(em, 'lock', 3);
  const o = await em.findOneOrFail(Order, { user: ids[1] });
  await em.nativeUpdate(Order, { id: o.id }, { version: raw('version + 1') });
  o.status = 'late';
  const out = [(await refused(em.flush())).error.message.includes('optimistic')];
  const fork = em.fork();
  await fork.transactional(async (t) => {
    const found = await t.findOneOrFail(Order, o.id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    out.push([found.status, found.version], names(await t.find(User, of('lock'), { lockMode: LockMode.PESSIMISTIC_READ, orderBy: { name: 'asc' } })));
  });
  return out;
});
on('errors', async (em) => {
  const error = (run) => run(em.fork()).then(() => 'none', (e) => [e.name, e.errno, e.sqlState, e.sqlMessage]);
  await em.insert(Tag, { name: 'error' });
  return [await error((m) => m.insert(Tag, { name: 'error' })), await error((m) => m.execute('SELEC 1')), await error((m) => m.execute('SELECT missing FROM users')), await error((m) => m.execute('SELECT 1 FROM missing')), await error((m) => m.insert(User, { name: 'x'.repeat(50), active: true })), await error((m) => m.insert(User, { name: null, active: true })), await error((m) => m.insert(Order, { user: '123456789', amount: '1', status: 'x' }))];
});
on('migrations, and the schema that is left to update', async (em, orm, scope) => {
  const step = (up, down) => class extends Migration { up() { up.forEach((s) => this.addSql(s)); } down() { down.forEach((s) => this.addSql(s)); } };
  const migrationsList = [
    { name: 'Made', class: step(["create table parcel (id int unsigned not null auto_increment primary key, user_id bigint not null, note varchar(20) null) default character set utf8mb4 engine = InnoDB comment = 'locus: owner=user_id'"], ['drop table parcel']) },
    { name: 'Altered', class: step(['alter table parcel add weight int not null default 7', 'alter table parcel add index by_weight(weight)', 'alter table parcel modify note varchar(60) not null'], ['alter table parcel drop index by_weight', 'alter table parcel drop weight']) },
    { name: 'Renamed', class: step(['alter table parcel change weight grams int not null default 7', 'rename table parcel to crate'], ['rename table crate to parcel', 'alter table parcel change grams weight int not null default 7']) },
  ];
  const own = await open({ migrations: { migrationsList, snapshot: false, silent: true } });
  scope.defer(() => own.close(true));
  const ids = await people(em, 'parcel', 4);
  const rows = (table) => em.execute(`select note, ${table === 'crate' ? 'grams' : 'weight'} as w from ${table} order by note`);
  await own.migrator.up({ to: 'Made' });
  for (const user of ids) await em.execute('insert into parcel (user_id, note) values (?, ?), (?, ?)', [user, `${ids.indexOf(user)}a`, user, `${ids.indexOf(user)}b`]);
  const out = [(await own.migrator.up()).map((m) => m.name), await rows('crate'), (await own.migrator.getExecutedMigrations()).map((m) => m.name)];
  await own.migrator.down();
  out.push(await rows('parcel'));
  await own.migrator.down({ to: 0 });
  out.push((await own.migrator.getPendingMigrations()).map((m) => m.name));
  const left = (await orm.schema.getUpdateSchemaSQL({ dropTables: false, wrap: false })).split('\n').filter((s) => s && !s.includes('user_tags'));
  return [...out, left];
});
go();
