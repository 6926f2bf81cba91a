'use strict';
// Drizzle on tables that their comments shard: users by their ID, orders and items by their user; tags are global.
const fs = require('fs');
const os = require('os');
const path = require('path');
const mysql2 = require('mysql2/promise');
const { drizzle } = require('drizzle-orm/mysql2');
const { migrate } = require('drizzle-orm/mysql2/migrator');
const m = require('drizzle-orm/mysql-core');
const { relations, sql, eq, ne, gt, gte, lt, and, or, not, inArray, notInArray, isNull, isNotNull, like, between, exists, asc, desc, count, countDistinct, sum, avg, max, min } = require('drizzle-orm');
const { test, endpoint, refused, go } = require('harness');

const id = () => m.bigint({ mode: 'number' }).autoincrement().primaryKey();
const number = (name) => m.bigint(name, { mode: 'number' }).notNull();
const users = m.mysqlTable('users', { id: id(), name: m.varchar({ length: 40 }).notNull(), age: m.int(), active: m.boolean().notNull().default(true) });
const orders = m.mysqlTable('orders', {
  id: id(), userId: number('user_id'), status: m.varchar({ length: 16 }).notNull().default('new'), amount: m.decimal({ precision: 12, scale: 2 }).notNull().default('0'),
});
const items = m.mysqlTable('items', { id: id(), userId: number('user_id'), orderId: number('order_id'), sku: m.varchar({ length: 30 }).notNull(), quantity: m.int().notNull().default(1) });
const tags = m.mysqlTable('tags', { id: id(), name: m.varchar({ length: 20 }).notNull().unique() });
const userTags = m.mysqlTable('user_tags', { userId: number('user_id'), tagId: number('tag_id'), note: m.varchar({ length: 20 }) }, (t) => [m.primaryKey({ columns: [t.userId, t.tagId] })]);
const schema = {
  users, orders, items, tags, userTags,
  usersRelations: relations(users, ({ many }) => ({ orders: many(orders), tagged: many(userTags) })),
  ordersRelations: relations(orders, ({ one, many }) => ({ user: one(users, { fields: [orders.userId], references: [users.id] }), items: many(items) })),
  itemsRelations: relations(items, ({ one }) => ({ order: one(orders, { fields: [items.orderId], references: [orders.id] }) })),
  userTagsRelations: relations(userTags, ({ one }) => ({ user: one(users, { fields: [userTags.userId], references: [users.id] }), tag: one(tags, { fields: [userTags.tagId], references: [tags.id] }) })),
};

// folder writes migrations as drizzle-kit does.
const folder = (scope, steps) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'drizzle-'));
  scope.defer(() => fs.rmSync(dir, { recursive: true }));
  fs.mkdirSync(path.join(dir, 'meta'));
  steps.forEach((statements, i) => fs.writeFileSync(path.join(dir, `000${i}_step.sql`), statements.join('--> statement-breakpoint\n')));
  const entries = steps.map((_, idx) => ({ idx, version: '5', when: 1700000000000 + idx, tag: `000${idx}_step`, breakpoints: true }));
  fs.writeFileSync(path.join(dir, 'meta', '_journal.json'), JSON.stringify({ version: '7', dialect: 'mysql', entries }));
  return dir;
};
const tables = [[
  "CREATE TABLE `users` (`id` bigint AUTO_INCREMENT NOT NULL, `name` varchar(40) NOT NULL, `age` int, `active` boolean NOT NULL DEFAULT true, CONSTRAINT `users_id` PRIMARY KEY(`id`)) COMMENT='locus: owner=id';",
  "CREATE TABLE `orders` (`id` bigint AUTO_INCREMENT NOT NULL, `user_id` bigint NOT NULL, `status` varchar(16) NOT NULL DEFAULT 'new', `amount` decimal(12,2) NOT NULL DEFAULT '0', CONSTRAINT `orders_id` PRIMARY KEY(`id`)) COMMENT='locus: owner=user_id';",
  "CREATE TABLE `items` (`id` bigint AUTO_INCREMENT NOT NULL, `user_id` bigint NOT NULL, `order_id` bigint NOT NULL, `sku` varchar(30) NOT NULL, `quantity` int NOT NULL DEFAULT 1, CONSTRAINT `items_id` PRIMARY KEY(`id`)) COMMENT='locus: owner=user_id';",
  "CREATE TABLE `tags` (`id` bigint AUTO_INCREMENT NOT NULL, `name` varchar(20) NOT NULL, CONSTRAINT `tags_id` PRIMARY KEY(`id`), CONSTRAINT `tags_name_unique` UNIQUE(`name`)) COMMENT='locus: global';",
  "CREATE TABLE `user_tags` (`user_id` bigint NOT NULL, `tag_id` bigint NOT NULL, `note` varchar(20), CONSTRAINT `user_tags_pk` PRIMARY KEY(`user_id`,`tag_id`)) COMMENT='locus: owner=user_id';",
], [
  'CREATE INDEX `orders_user` ON `orders` (`user_id`);',
  'ALTER TABLE `orders` ADD CONSTRAINT `orders_user_fk` FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON DELETE cascade ON UPDATE no action;',
]];

let ready;
const on = (name, run, mode = 'planetscale') => test(name, async (scope) => {
  const pool = mysql2.createPool({ ...endpoint, connectionLimit: 5 });
  scope.defer(() => pool.end());
  const db = drizzle(pool, { schema, mode });
  if (!ready) ready = migrate(db, { migrationsFolder: folder(scope, tables) });
  await ready;
  return run(db, scope);
});
// people inserts users of a case, each with as many orders as its place in the list, of two items each.
const people = async (db, kind, n = 6) => {
  const out = [];
  for (let i = 0; i < n; i++) {
    const [u] = await db.insert(users).values({ name: `${kind}${i}`, age: i === 3 ? null : 20 + i }).$returningId();
    out.push(u.id);
    for (let k = 0; k < i; k++) {
      const [o] = await db.insert(orders).values({ userId: u.id, amount: (1.25 * (k + 1)).toFixed(2), status: k % 2 ? 'paid' : 'new' }).$returningId();
      await db.insert(items).values([0, 1].map((x) => ({ userId: u.id, orderId: o.id, sku: `${kind}-${i}-${k}-${x}`, quantity: x + 1 })));
    }
  }
  return out;
};
const of = (kind) => like(users.name, `${kind}%`);
const rows = ([r]) => r.affectedRows;

on('insert, returningId, select', async (db) => {
  const [a] = await db.insert(users).values({ name: 'insert', age: 5 }).$returningId();
  const [header] = await db.insert(users).values({ name: 'insert2' });
  return [
    await db.select({ name: users.name, age: users.age, active: users.active }).from(users).where(eq(users.id, a.id)), header.affectedRows, header.insertId > 0,
    (await db.select().from(users).where(eq(users.id, header.insertId))).map((u) => u.name), await db.select().from(users).where(eq(users.id, -1)),
  ];
});
on('many rows, and rows of a query', async (db) => {
  const out = [rows(await db.insert(users).values(Array.from({ length: 12 }, (_, i) => ({ name: `many${i}`, age: i }))))];
  await db.insert(tags).values([{ name: 'many-a' }, { name: 'many-b' }]);
  const [tag] = await db.select().from(tags).where(eq(tags.name, 'many-a'));
  out.push(rows(await db.insert(userTags).select(db.select({ userId: users.id, tagId: sql`${tag.id}`.as('tag_id'), note: users.name }).from(users).where(of('many')))));
  return [...out, await db.select({ note: userTags.note }).from(userTags).where(eq(userTags.tagId, tag.id)).orderBy(userTags.note), await db.$count(users, of('many'))];
});
on('returningId of many rows', async (db) => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((x) => `ids-${x}`);
  const made = await db.insert(users).values(names.map((name) => ({ name }))).$returningId();
  const found = await db.select().from(users).where(inArray(users.id, made.map((u) => u.id))).orderBy(users.id);
  return [made.length, found.map((u) => u.name)];
});
on('where', async (db) => {
  await people(db, 'where');
  const out = [];
  for (const w of [
    gt(users.age, 22), isNull(users.age), isNotNull(users.age), between(users.age, 21, 24), inArray(users.name, ['where1', 'where5', 'none']), notInArray(users.name, ['where1']), not(eq(users.age, 22)),
    or(eq(users.age, 20), eq(users.age, 25)), and(gte(users.age, 21), lt(users.age, 24), ne(users.name, 'where2')), like(users.name, '%e4'), sql`${users.age} % 2 = ${1}`, eq(users.active, true),
    inArray(users.id, db.select({ id: orders.userId }).from(orders).where(eq(orders.status, 'paid'))), exists(db.select({ one: sql`1` }).from(orders).where(and(eq(orders.userId, users.id), gt(orders.amount, '3')))),
  ]) out.push((await db.select({ name: users.name }).from(users).where(and(of('where'), w)).orderBy(users.name)).map((u) => u.name));
  return out;
});
on('update and delete', async (db) => {
  const ids = await people(db, 'change');
  const mine = db.select({ id: users.id }).from(users).where(of('change'));
  return [
    rows(await db.update(users).set({ age: 1 }).where(eq(users.id, ids[0]))), rows(await db.update(users).set({ age: sql`${users.age} + 1`, active: false }).where(and(of('change'), gt(users.age, 21)))),
    rows(await db.update(orders).set({ status: 'x' }).where(and(inArray(orders.userId, ids), gt(orders.amount, '2')))), rows(await db.delete(items).where(inArray(items.userId, mine))),
    rows(await db.update(users).set({ age: 0 }).where(of('change')).orderBy(desc(users.name)).limit(2)), rows(await db.delete(users).where(of('change')).orderBy(users.name).limit(1)),
    await db.select({ name: users.name, age: users.age, active: users.active }).from(users).where(of('change')).orderBy(users.name),
  ];
});
on('on duplicate key update, ignore', async (db) => {
  const ids = await people(db, 'upsert', 3);
  const [tag] = await db.insert(tags).values({ name: 'upsert' }).$returningId();
  const all = ids.map((userId) => ({ userId, tagId: tag.id, note: 'a' }));
  return [
    rows(await db.insert(userTags).values(all)), rows(await db.insert(userTags).values(all.map((r) => ({ ...r, note: 'b' }))).onDuplicateKeyUpdate({ set: { note: sql`values(${userTags.note})` } })),
    rows(await db.insert(userTags).values(all[1]).onDuplicateKeyUpdate({ set: { note: sql`concat(${userTags.note}, 'c')` } })), rows(await db.insert(userTags).ignore().values(all)),
    await db.select({ name: users.name, note: userTags.note }).from(userTags).innerJoin(users, eq(users.id, userTags.userId)).where(eq(userTags.tagId, tag.id)).orderBy(users.name),
  ];
});
on('joins', async (db) => {
  await people(db, 'join');
  const other = m.alias(users, 'other');
  return [
    await db.select({ name: users.name, amount: orders.amount }).from(users).leftJoin(orders, eq(orders.userId, users.id)).where(of('join')).orderBy(users.name, orders.amount),
    await db.select({ sku: items.sku, status: orders.status, name: users.name }).from(items).innerJoin(orders, eq(items.orderId, orders.id)).innerJoin(users, eq(orders.userId, users.id)).where(of('join')).orderBy(items.sku),
    await db.select({ name: users.name, other: other.name }).from(users).innerJoin(other, sql`${other.age} = ${users.age} + 1`).where(and(of('join'), like(other.name, 'join%'))).orderBy(users.name),
  ];
});
const related = (mode) => on(`relations: with, nested, limited, by ${mode}`, async (db) => {
  await people(db, `rel${mode}`, 4);
  const [tag] = await db.insert(tags).values({ name: `rel${mode}` }).$returningId();
  await db.insert(userTags).select(db.select({ userId: users.id, tagId: sql`${tag.id}`.as('tag_id'), note: sql`null`.as('note') }).from(users).where(of(`rel${mode}`)));
  const where = of(`rel${mode}`);
  const columns = { name: true };
  return [
    await db.query.users.findMany({ where, columns, orderBy: users.name, with: { orders: { columns: { amount: true, status: true }, orderBy: asc(orders.amount), with: { items: { columns: { sku: true }, orderBy: items.sku } } } } }),
    await db.query.users.findMany({ where, columns, orderBy: desc(users.name), limit: 2, with: { orders: { columns: { amount: true }, orderBy: desc(orders.amount), limit: 1 }, tagged: { columns: {}, with: { tag: { columns } } } } }),
    await db.query.users.findFirst({ where, columns, orderBy: users.name, extras: { years: sql`${users.age} + 1`.as('years') } }),
  ];
}, mode);
related('planetscale');
related('default'); // lateral joins, which MariaDB does not have
on('aggregates and groups', async (db) => {
  const ids = await people(db, 'group');
  const n = count(orders.id).as('n');
  return [
    await db.select({ n: count(), s: sum(users.age), a: avg(users.age), top: max(users.age), low: min(users.name), kinds: countDistinct(users.active) }).from(users).where(of('group')),
    await db.select({ name: users.name, n, s: sum(orders.amount) }).from(users).leftJoin(orders, eq(orders.userId, users.id)).where(of('group')).groupBy(users.name).having(({ n: x }) => gt(x, 1)).orderBy(desc(n)),
    await db.select({ status: orders.status, s: sum(orders.amount) }).from(orders).where(inArray(orders.userId, ids)).groupBy(orders.status).orderBy(orders.status),
    await db.selectDistinct({ amount: orders.amount }).from(orders).where(inArray(orders.userId, ids)).orderBy(orders.amount), await db.$count(orders, inArray(orders.userId, ids)),
  ];
});
on('pages and iterators', async (db) => {
  await people(db, 'page', 9);
  const q = () => db.select({ name: users.name, age: users.age }).from(users).where(of('page')).orderBy(desc(users.age), users.name).$dynamic();
  const streamed = [];
  for await (const row of await q().iterator()) streamed.push(row.name);
  return [await q().limit(4), await q().limit(4).offset(4), await q().limit(4).offset(8), await q().where(and(of('page'), gt(users.name, 'page5'))).limit(2), streamed];
});
on('subqueries, with, unions, windows', async (db) => {
  await people(db, 'sub');
  const spent = db.select({ userId: orders.userId, total: sum(orders.amount).as('total') }).from(orders).groupBy(orders.userId).as('spent');
  const old = db.$with('old').as(db.select({ id: users.id, name: users.name, age: users.age }).from(users).where(and(of('sub'), gt(users.age, 21))));
  const one = (name) => db.select({ name: users.name }).from(users).where(eq(users.name, name));
  const { union, unionAll } = m;
  return [
    await db.select({ name: users.name, total: spent.total }).from(users).innerJoin(spent, eq(spent.userId, users.id)).where(of('sub')).orderBy(users.name), await db.with(old).select({ name: old.name }).from(old).orderBy(old.age),
    await union(one('sub1'), one('sub1')), (await unionAll(one('sub1'), one('sub2'), one('sub1'))).map((r) => r.name).sort(), await union(one('sub1'), one('sub2')).orderBy(sql`name desc`).limit(1),
    await db.select({ name: users.name, r: sql`rank() over (order by ${users.age} desc)`.as('r') }).from(users).where(and(of('sub'), isNotNull(users.age))).orderBy(sql`r`),
    await db.select({ name: users.name, n: db.$count(orders, eq(orders.userId, users.id)) }).from(users).where(of('sub')).orderBy(users.name),
  ];
});
on('transactions and nested savepoints over several users', async (db) => {
  const ids = await people(db, 'trx', 4);
  const ages = async (d = db) => (await d.select({ age: users.age }).from(users).where(of('trx')).orderBy(users.name)).map((u) => u.age);
  const set = (d, i, age) => d.update(users).set({ age }).where(eq(users.id, ids[i]));
  const out = [await refused(db.transaction(async (t) => { for (const i of [0, 1, 2, 3]) await set(t, i, 1); throw new Error('back'); })), await ages()];
  await db.transaction(async (t) => {
    await set(t, 0, 50);
    await t.transaction(async (inner) => {
      await set(inner, 1, 51);
      await inner.transaction(async (deep) => { await set(deep, 2, 52); await set(deep, 0, 52); deep.rollback(); }).catch(() => {});
      await set(inner, 3, 53);
    });
    out.push(await ages(t));
    await t.transaction(async (inner) => { await inner.delete(users).where(eq(users.id, ids[0])); inner.rollback(); }).catch(() => {});
  }, { isolationLevel: 'read committed', accessMode: 'read write' });
  const snapshot = await db.transaction((t) => ages(t), { isolationLevel: 'repeatable read', withConsistentSnapshot: true });
  return [...out, await ages(), snapshot];
});
on('locking reads', async (db) => {
  const [a] = await people(db, 'lock', 3);
  return db.transaction(async (t) => [await t.select({ name: users.name }).from(users).where(eq(users.id, a)).for('update'), await t.select({ name: users.name }).from(users).where(of('lock')).orderBy(users.name).for('update', { noWait: true })]);
});
on('prepared statements with placeholders', async (db) => {
  const ids = await people(db, 'prepared');
  const q = db.select({ name: users.name }).from(users).where(and(eq(users.id, sql.placeholder('id')), gt(users.age, sql.placeholder('age')))).prepare();
  const page = db.select({ name: users.name }).from(users).where(of('prepared')).orderBy(users.name).limit(sql.placeholder('n')).offset(sql.placeholder('from')).prepare();
  const put = db.insert(userTags).values({ userId: sql.placeholder('user'), tagId: 1, note: sql.placeholder('note') }).prepare();
  const out = [];
  for (const i of ids) {
    out.push(await q.execute({ id: i, age: 22 }));
    await put.execute({ user: i, note: `n${out.length}` });
  }
  return [...out, await page.execute({ n: 2, from: 3 }), await db.select({ note: userTags.note }).from(userTags).where(inArray(userTags.userId, ids)).orderBy(userTags.note)];
});
on('errors', async (db) => {
  const cause = (p) => p.then(() => 'none', (e) => [e.name, (e.cause || e).errno, (e.cause || e).sqlState, (e.cause || e).sqlMessage]);
  await db.insert(tags).values({ name: 'error' });
  return [await cause(db.insert(tags).values({ name: 'error' })), await cause(db.execute(sql`SELEC 1`)), await cause(db.execute(sql`SELECT missing FROM users`)), await cause(db.insert(users).values({ name: 'x'.repeat(50) })), await cause(db.insert(users).values({ name: sql`NULL` }))];
});
on('types', async (db, scope) => {
  const t = m.mysqlTable('kinds', {
    userId: m.bigint('user_id', { mode: 'bigint', unsigned: true }).primaryKey(), text: m.text(), blob: m.varbinary({ length: 20 }), double: m.double(), exact: m.decimal({ precision: 20, scale: 6 }), at: m.datetime({ fsp: 3 }), day: m.date({ mode: 'string' }),
    clock: m.time(), stamp: m.timestamp({ fsp: 3 }), json: m.json(), kind: m.mysqlEnum(['a', 'b']), flag: m.boolean(), year: m.year(), char: m.char({ length: 3 }),
  });
  await db.execute(sql`CREATE TABLE kinds (user_id BIGINT UNSIGNED PRIMARY KEY, text TEXT, \`blob\` VARBINARY(20), \`double\` DOUBLE, exact DECIMAL(20,6), at DATETIME(3), day DATE, clock TIME, stamp TIMESTAMP(3) NULL, json JSON, kind ENUM('a','b'), flag BOOLEAN, year YEAR, \`char\` CHAR(3)) COMMENT='locus: owner=user_id'`);
  await db.insert(t).values([1n, 2n, 18446744073709551615n].map((userId, i) => ({
    userId, text: `ä€😀\\${"'".repeat(i)}`, blob: `b${i}`, double: 1.5 * i, exact: '12345678901234.123456', at: new Date(Date.UTC(2026, 1, 3, i, 4, 5, 678)), day: '2026-02-03', clock: '-100:02:03', stamp: new Date(Date.UTC(2026, 1, 3, i)), json: { i, list: [1, null] }, kind: i ? 'a' : 'b', flag: i > 1, year: 2026, char: 'x',
  })));
  scope.defer(() => db.execute(sql`DROP TABLE kinds`));
  return [await db.select().from(t).orderBy(t.userId), await db.select({ n: count(), s: sum(t.exact) }).from(t)];
});
on('migrations of a sharded table, views', async (db, scope) => {
  const made = ["CREATE TABLE `parcel` (`id` bigint AUTO_INCREMENT NOT NULL, `user_id` bigint NOT NULL, `note` varchar(20), CONSTRAINT `parcel_id` PRIMARY KEY(`id`)) COMMENT='locus: owner=user_id';"];
  const altered = ['ALTER TABLE `parcel` ADD `weight` int DEFAULT 7 NOT NULL;', 'CREATE INDEX `by_weight` ON `parcel` (`weight`);', 'ALTER TABLE `parcel` MODIFY COLUMN `note` varchar(60) NOT NULL;'];
  const renamed = ['ALTER TABLE `parcel` RENAME COLUMN `weight` TO `grams`;', 'DROP INDEX `by_weight` ON `parcel`;', 'RENAME TABLE `parcel` TO `crate`;', 'CREATE VIEW `heavy` AS (select `note`, `grams` from `crate` where `grams` > 7);'];
  const dropped = ['DROP VIEW `heavy`;', 'ALTER TABLE `crate` DROP COLUMN `grams`;'];
  const options = { migrationsTable: 'parcel_migrations' };
  const columns = async (table) => (await db.execute(sql`SELECT COLUMN_NAME AS c, COLUMN_TYPE AS t, IS_NULLABLE AS n FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ${table} ORDER BY ORDINAL_POSITION`))[0];
  await migrate(db, { ...options, migrationsFolder: folder(scope, [made]) });
  const parcel = m.mysqlTable('parcel', { userId: number('user_id'), note: m.varchar({ length: 60 }), weight: m.int() });
  await people(db, 'parcel', 5);
  await db.execute(sql`INSERT INTO parcel (user_id, note) SELECT id, name FROM users WHERE name LIKE 'parcel%'`);
  await migrate(db, { ...options, migrationsFolder: folder(scope, [made, altered]) });
  const out = [await columns('parcel'), rows(await db.update(parcel).set({ weight: 8 }).where(gt(parcel.note, 'parcel2'))), await db.select().from(parcel).orderBy(parcel.note).then((all) => all.map((p) => [p.note, p.weight]))];
  await migrate(db, { ...options, migrationsFolder: folder(scope, [made, altered, renamed]) });
  out.push(await columns('crate'), (await db.execute(sql`SELECT * FROM heavy ORDER BY note`))[0]);
  await migrate(db, { ...options, migrationsFolder: folder(scope, [made, altered, renamed, dropped]) });
  out.push(await columns('crate'), await db.$count(sql`parcel_migrations`), await db.$count(sql`crate`));
  await db.execute(sql`DROP TABLE crate`);
  return out;
});
go();
