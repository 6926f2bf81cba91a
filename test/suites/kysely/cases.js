'use strict';
const { Kysely, MysqlDialect, sql } = require('kysely');
const { createPool } = require('mysql2');
const { test, endpoint, refused, go } = require('harness');

const on = (name, run) => test(name, async (scope) => {
  const db = new Kysely({ dialect: new MysqlDialect({ pool: createPool({ ...endpoint, connectionLimit: 5 }) }) });
  scope.defer(() => db.destroy());
  return run(db);
});
const people = async (db, table) => {
  await db.schema.createTable(table)
    .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('name', 'varchar(40)', (c) => c.notNull())
    .addColumn('age', 'integer')
    .addColumn('mail', 'varchar(40)', (c) => c.unique())
    .execute();
  await db.insertInto(table).values([{ name: 'Ann', age: 30, mail: 'a@x' }, { name: 'Bob', age: 25, mail: 'b@x' }, { name: 'Cid', age: 40, mail: 'c@x' }, { name: 'Dot', age: null, mail: 'd@x' }]).execute();
};

on('select: all, columns, first', async (db) => {
  await people(db, 'y_select');
  const q = db.selectFrom('y_select');
  return [await q.selectAll().orderBy('id').execute(), await q.select(['name', 'age as years']).orderBy('id', 'desc').execute(), await q.selectAll().where('id', '=', 2).executeTakeFirst(), await q.selectAll().where('id', '=', 99).executeTakeFirst(), await refused(q.selectAll().where('id', '=', 99).executeTakeFirstOrThrow())];
});
on('select: where', async (db) => {
  await people(db, 'y_where');
  const names = (f) => f(db.selectFrom('y_where').select('name').orderBy('id')).execute();
  const all = [
    (q) => q.where('age', '>', 25), (q) => q.where('age', 'is', null), (q) => q.where('name', 'in', ['Ann', 'Dot']), (q) => q.where('name', 'like', '%i%'), (q) => q.where('mail', '!=', "it's"),
    (q) => q.where((eb) => eb.or([eb('age', '=', 25), eb('name', '=', 'Cid')])), (q) => q.where((eb) => eb.not(eb('id', '<', 3))), (q) => q.where((eb) => eb.between('age', 20, 30)), (q) => q.where(sql`age + ${1}`, '>', 30),
    (q) => q.where((eb) => eb.exists(eb.selectFrom('y_where as w').select('w.id').whereRef('w.id', '=', sql`y_where.id + 1`))), (q) => q.where(({ eb, refTuple, tuple }) => eb(refTuple('id', 'name'), 'in', [tuple(1, 'Ann'), tuple(2, 'x')])),
  ];
  const out = [];
  for (const f of all) out.push(await names(f));
  return out;
});
on('select: aggregates and groups', async (db) => {
  await people(db, 'y_group');
  const { fn } = db;
  const q = db.selectFrom('y_group');
  return [
    await q.select([fn.countAll().as('n'), fn.sum('age').as('s'), fn.min('age').as('lo'), fn.max('age').as('hi'), fn.avg('age').as('m')]).executeTakeFirst(),
    await q.select(['age', fn.countAll().as('n')]).groupBy('age').having(fn.countAll(), '>', 0).orderBy('age').execute(), await q.select(fn.count('age').distinct().as('n')).execute(),
    await q.select((eb) => eb.case().when('age', '>', 28).then('old').else('young').end().as('k')).orderBy('id').execute(),
  ];
});
on('select: joins', async (db) => {
  await people(db, 'y_join');
  const q = db.selectFrom('y_join as a').orderBy('a.id');
  return [
    await q.innerJoin('y_join as b', 'a.id', 'b.id').select(['a.name', 'b.age as other']).execute(), await q.leftJoin('y_join as b', (j) => j.on('b.id', '=', sql`a.id + 1`)).select(['a.name', 'b.name as next']).execute(),
    await q.innerJoin((eb) => eb.selectFrom('y_join').select((x) => x.fn.max('age').as('top')).as('x'), (j) => j.onRef('x.top', '=', 'a.age')).select('a.name').execute(),
    await q.innerJoinLateral((eb) => eb.selectFrom('y_join as c').select('c.name as later').whereRef('c.id', '>', 'a.id').limit(1).as('l'), (j) => j.onTrue()).select('later').execute().catch((e) => e.errno),
  ];
});
on('select: unions, with, windows', async (db) => {
  await people(db, 'y_union');
  const one = (id) => db.selectFrom('y_union').select('name').where('id', '=', id);
  return [
    await one(1).union(one(2)).execute(), await one(1).unionAll(one(1)).execute(), await db.with('old', (d) => d.selectFrom('y_union').selectAll().where('age', '>', 25)).selectFrom('old as a').innerJoin('old as b', 'a.id', 'b.id').select('a.name').orderBy('a.name').execute(),
    await db.withRecursive('n(i)', () => sql`(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)`).selectFrom('n').select((eb) => eb.fn.sum('i').as('s')).execute(),
    await db.selectFrom('y_union').select(['name', (eb) => eb.fn.agg('row_number').over((o) => o.orderBy('age', 'desc')).as('n')]).orderBy('n').execute(),
  ];
});
on('select: limit, offset, distinct, order', async (db) => {
  await people(db, 'y_limit');
  const q = db.selectFrom('y_limit');
  return [await q.select('name').orderBy('name', 'desc').limit(2).offset(1).execute(), await q.select('age').distinct().orderBy('age').execute(), await q.select('id').orderBy(sql`FIELD(name, ${'Cid'}, ${'Bob'})`, 'desc').orderBy('id').execute()];
});
on('insert: one, many, ignore, on duplicate key, query', async (db) => {
  await people(db, 'y_insert');
  const shown = (r) => [r.insertId, r.numInsertedOrUpdatedRows];
  return [
    shown(await db.insertInto('y_insert').values({ name: 'Eve' }).executeTakeFirst()), shown(await db.insertInto('y_insert').values([{ name: 'F' }, { name: 'G', age: 1 }]).executeTakeFirst()),
    shown(await db.insertInto('y_insert').ignore().values({ id: 1, name: 'no' }).executeTakeFirst()), shown(await db.insertInto('y_insert').values({ id: 1, name: 'Anna' }).onDuplicateKeyUpdate({ name: 'Anna', age: 31 }).executeTakeFirst()),
    shown(await db.insertInto('y_insert').columns(['name', 'age']).expression((eb) => eb.selectFrom('y_insert').select(['name', sql`99`.as('age')]).where('id', '<', 3)).executeTakeFirst()),
    shown(await db.replaceInto('y_insert').values({ id: 2, name: 'R' }).executeTakeFirst()), await db.selectFrom('y_insert').selectAll().orderBy('id').execute(), await refused(db.insertInto('y_insert').values({ id: 1, name: 'x' }).execute()),
  ];
});
on('update and delete', async (db) => {
  await people(db, 'y_write');
  const shown = (r) => [r.numUpdatedRows, r.numChangedRows, r.numDeletedRows];
  return [
    shown(await db.updateTable('y_write').set({ age: 1 }).where('id', '=', 1).executeTakeFirst()), shown(await db.updateTable('y_write').set({ age: 1 }).where('id', '=', 1).executeTakeFirst()),
    shown(await db.updateTable('y_write').set((eb) => ({ age: eb('age', '+', 1) })).where('age', 'is not', null).executeTakeFirst()), shown(await db.updateTable('y_write').set('name', 'Z').orderBy('id', 'desc').limit(1).executeTakeFirst()),
    shown(await db.deleteFrom('y_write').where('name', '=', 'Z').executeTakeFirst()), shown(await db.deleteFrom('y_write').orderBy('id').limit(1).executeTakeFirst()), await db.selectFrom('y_write').selectAll().orderBy('id').execute(),
  ];
});
on('transactions and savepoints', async (db) => {
  await people(db, 'y_trx');
  const out = [await refused(db.transaction().execute(async (t) => { await t.deleteFrom('y_trx').execute(); throw new Error('back'); }))];
  await db.transaction().setIsolationLevel('read committed').execute(async (t) => {
    out.push(await t.selectFrom('y_trx').select('name').where('id', '=', 1).forUpdate().execute());
    await t.updateTable('y_trx').set({ age: 7 }).where('id', '=', 1).execute();
  });
  const t = await db.startTransaction().execute();
  const s = await t.savepoint('s').execute();
  await s.deleteFrom('y_trx').execute();
  const r = await s.rollbackToSavepoint('s').execute();
  await r.commit().execute();
  return [...out, await db.selectFrom('y_trx').selectAll().orderBy('id').execute()];
});
on('schema: alter, index, view, introspection', async (db) => {
  await people(db, 'y_schema');
  await db.schema.alterTable('y_schema').addColumn('note', 'text').execute();
  await db.schema.alterTable('y_schema').renameColumn('note', 'remark').modifyColumn('age', 'bigint').execute();
  await db.schema.createIndex('by_name').on('y_schema').columns(['name', 'age']).execute();
  await db.schema.createView('y_view').orReplace().as(db.selectFrom('y_schema').select('name').where('age', '>', 25)).execute();
  const tables = (await db.introspection.getTables()).filter((t) => t.name === 'y_schema' || t.name === 'y_view');
  const out = [tables.map((t) => [t.name, t.isView, t.columns.map((c) => [c.name, c.dataType, c.isNullable, c.isAutoIncrementing, c.hasDefaultValue])]), await db.selectFrom('y_view').selectAll().orderBy('name').execute()];
  await db.schema.dropIndex('by_name').on('y_schema').execute();
  await db.schema.dropView('y_view').execute();
  await db.schema.dropTable('y_schema').ifExists().execute();
  return [...out, await refused(db.selectFrom('y_schema').selectAll().execute())];
});
on('types, streams and raw texts', async (db) => {
  await sql`CREATE TABLE y_types (id INT PRIMARY KEY, d DATETIME(3), n DECIMAL(20,5), b VARBINARY(20), j JSON, big BIGINT)`.execute(db);
  await db.insertInto('y_types').values([1, 2, 3].map((id) => ({ id, d: new Date(Date.UTC(2020, 1, 2, 3, 4, 5, id)), n: '12345678901234.5', b: Buffer.from([0, 255, id]), j: JSON.stringify({ id }), big: '9007199254740993' }))).execute();
  const streamed = [];
  for await (const row of db.selectFrom('y_types').selectAll().orderBy('id').stream()) streamed.push(row);
  return [streamed, (await sql`SELECT ${'a'} AS a, ${5} AS b, ${null} AS c`.execute(db)).rows, await refused(sql`SELEC 1`.execute(db))];
});
go();
