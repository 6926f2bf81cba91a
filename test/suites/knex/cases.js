'use strict';
const Knex = require('knex');
const { test, endpoint, refused, go } = require('harness');

const open = (scope, connection = {}, options = {}) => {
  const k = Knex({ client: 'mysql2', connection: { ...endpoint, ...connection }, pool: { min: 0, max: 5 }, ...options });
  scope.defer(() => k.destroy());
  return k;
};
const on = (name, run) => test(name, async (scope) => run(open(scope), scope));
const people = async (k, table) => {
  await k.schema.createTable(table, (t) => {
    t.increments('id');
    t.string('name', 40).notNullable();
    t.integer('age');
    t.string('mail').unique();
  });
  await k(table).insert([{ name: 'Ann', age: 30, mail: 'a@x' }, { name: 'Bob', age: 25, mail: 'b@x' }, { name: 'Cid', age: 40, mail: 'c@x' }, { name: 'Dot', age: null, mail: 'd@x' }]);
};

on('select: all, columns, first, pluck', async (k) => {
  await people(k, 'k_select');
  return [await k('k_select').orderBy('id'), await k.select('name', { years: 'age' }).from('k_select').orderBy('id'), await k('k_select').first('name').where({ id: 2 }), await k('k_select').pluck('name').orderBy('id'), (await k('k_select').first().where({ id: 99 })) ?? 'none'];
});
on('select: where clauses', async (k) => {
  await people(k, 'k_where');
  const q = (f) => f(k('k_where').pluck('name').orderBy('id'));
  const all = [
    (b) => b.where('age', '>', 25), (b) => b.whereBetween('age', [20, 30]), (b) => b.whereNull('age'), (b) => b.whereNotNull('age').andWhere('name', 'like', '%i%'), (b) => b.whereIn('name', ['Ann', 'Dot']), (b) => b.whereNotIn('id', [1, 2]),
    (b) => b.where({ age: 25 }).orWhere({ name: 'Cid' }), (b) => b.where((x) => x.where('age', 30).orWhereNull('age')).whereNot('id', 1), (b) => b.whereExists(k('k_where as w').whereRaw('w.id = k_where.id + 1')), (b) => b.whereRaw('age + ? > ?', [1, 30]), (b) => b.whereILike('mail', 'A%'), (b) => b.where('name', "it's"),
  ];
  const out = [];
  for (const f of all) out.push(await q(f));
  return out;
});
on('select: aggregates, group, having', async (k) => {
  await people(k, 'k_group');
  return [await k('k_group').count({ n: '*' }).first(), await k('k_group').sum('age as s').min('age as lo').max('age as hi').avg('age as m'), await k('k_group').select(k.raw('age IS NULL AS w')).count('* as n').groupByRaw('w').orderBy('w'), await k('k_group').select('age').count('* as n').groupBy('age').having('n', '>', 0).orderBy('age'), await k('k_group').countDistinct('age as n')];
});
on('select: joins', async (k) => {
  await people(k, 'k_join');
  const j = k('k_join as a').orderBy('a.id');
  return [await j.clone().join('k_join as b', 'a.id', 'b.id').select('a.name', 'b.age as other'), await j.clone().leftJoin('k_join as b', (on2) => on2.on('b.id', '=', k.raw('a.id + 1')).andOnNotNull('b.age')).select('a.name', 'b.name as next'), await k('k_join as a').crossJoin('k_join as b').count('* as n')];
});
on('select: unions, with, subqueries', async (k) => {
  await people(k, 'k_union');
  return [
    await k('k_union').select('name').where('id', 1).union([k('k_union').select('name').where('id', 2)]), await k('k_union').select('id').unionAll((b) => b.from('k_union').select('id')).orderBy('id'),
    await k.with('old', k('k_union').where('age', '>', 25)).from('old').select('name').orderBy('name'), await k.withRecursive('n', ['i'], k.raw('SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5')).from('n').sum('i as s'),
    await k.from(k('k_union').max('age as top').as('x')).select('top'), await k('k_union').where('age', k('k_union').min('age')).select('name'),
  ];
});
on('select: limit, offset, distinct, order', async (k) => {
  await people(k, 'k_limit');
  return [await k('k_limit').orderBy('name', 'desc').limit(2).offset(1), await k('k_limit').distinct('age').orderBy('age'), await k('k_limit').orderBy([{ column: 'age', order: 'desc' }, 'id']), await k('k_limit').orderByRaw('FIELD(name, ?, ?) DESC, id', ['Cid', 'Bob'])];
});
on('select: windows', async (k) => {
  await people(k, 'k_window');
  return k('k_window').select('name').rowNumber('n', (w) => w.orderBy('age', 'desc')).rank('r', 'age').orderBy('n');
});
on('select: JSON', async (k) => {
  await k.schema.createTable('k_json', (t) => { t.increments(); t.json('doc'); });
  await k('k_json').insert([{ doc: JSON.stringify({ a: 1, b: { c: 'x' } }) }, { doc: JSON.stringify({ a: 2, b: [1, 2] }) }]);
  return [await k('k_json').orderBy('id'), await k('k_json').jsonExtract('doc', '$.a', 'a').orderBy('id'), await k('k_json').whereJsonPath('doc', '$.a', '=', 2).pluck('id'), await k('k_json').update({ doc: k.jsonSet('doc', '$.a', 9) }).where({ id: 1 })];
});
on('insert: one, many, ignore, merge', async (k) => {
  await people(k, 'k_insert');
  return [await k('k_insert').insert({ name: 'Eve' }), await k('k_insert').insert([{ name: 'F' }, { name: 'G', age: 1 }]), await k('k_insert').insert({ id: 1, name: 'no' }).onConflict('id').ignore(), await k('k_insert').insert({ id: 1, name: 'Anna', age: 31 }).onConflict('id').merge(), await k('k_insert').insert({ id: 2, name: 'x', age: 99 }).onConflict('id').merge(['age']), await k('k_insert').orderBy('id')];
});
on('insert: in batches', async (k) => {
  await people(k, 'k_batch');
  const ids = await k.batchInsert('k_batch', Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}`, age: i })), 300);
  return [ids, await k('k_batch').count('* as n').sum('age as s')];
});
on('insert: select', async (k) => {
  await people(k, 'k_from');
  return [await k(k.raw('?? (??, ??)', ['k_from', 'name', 'age'])).insert(k('k_from').select('name', 'age')), await k('k_from').count('* as n')];
});
on('update and delete', async (k) => {
  await people(k, 'k_update');
  return [await k('k_update').where('age', '<', 35).update({ age: 1 }), await k('k_update').where({ id: 1 }).increment('age', 5), await k('k_update').where({ id: 1 }).update({ age: k.raw('?? * 2', ['age']) }), await k('k_update').where({ id: 2 }).decrement({ age: 1 }), await k('k_update').whereNull('age').del(), await k('k_update').orderBy('id'), await k('k_update').truncate(), await k('k_update').count('* as n')];
});
on('update: joined', async (k) => {
  await people(k, 'k_upjoin');
  await k('k_upjoin as a').join('k_upjoin as b', 'b.id', k.raw('a.id + 1')).update({ 'a.name': k.ref('b.name') });
  return k('k_upjoin').orderBy('id');
});
on('types', async (k) => {
  await k.schema.createTable('k_types', (t) => {
    t.bigIncrements('id'); t.bigInteger('big').unsigned(); t.decimal('dec', 20, 6); t.double('dbl'); t.boolean('flag'); t.datetime('at', { precision: 6 }); t.date('day'); t.time('time'); t.timestamp('ts').defaultTo(k.raw('NULL')).nullable();
    t.text('text', 'longtext'); t.binary('bin', 10); t.enu('kind', ['a', 'b']); t.json('doc'); t.uuid('uu'); t.specificType('yr', 'YEAR'); t.tinyint('ti'); t.float('f');
  });
  await k('k_types').insert({ big: '18446744073709551615', dec: '12345678901234.567891', dbl: 1.1, flag: true, at: new Date('2024-02-29T12:34:56.789Z'), day: '2024-02-29', time: '-12:34:56', ts: '2024-01-01 00:00:00', text: 'ü😀', bin: Buffer.from([0, 255]), kind: 'b', doc: '{"a": [1]}', uu: '123e4567-e89b-12d3-a456-426614174000', yr: 2024, ti: -5, f: 0.5 });
  await k('k_types').insert({ id: 9 });
  return [await k('k_types').orderBy('id'), await k('k_types').columnInfo(), await k('k_types').where({ flag: true }).count('* as n')];
});
test('types: big numbers and dates as strings', async (scope) => {
  const k = open(scope, { supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, decimalNumbers: true });
  return k.select(k.raw('9223372036854775807 AS a, 5 AS b, 1.50 AS c, TIMESTAMP ? AS d', ['2024-02-29 01:02:03'])).first();
});
for (const timezone of ['Z', '+05:30']) {
  test(`types: time zone ${timezone}`, async (scope) => {
    const k = open(scope, { timezone });
    return k.raw('SELECT CAST(? AS DATETIME) AS d, ? AS s', [new Date('2024-07-01T10:00:00Z'), new Date('2024-07-01T10:00:00Z')]).then(([r]) => r);
  });
}
on('raw: bindings', async (k) => {
  await people(k, 'k_raw');
  return [(await k.raw('SELECT ? + ? AS s', [1, 2]))[0], (await k.raw('SELECT :a AS a, :b AS b', { a: 1, b: "o'x" }))[0], (await k.raw('SELECT * FROM ?? WHERE ?? = ?', ['k_raw', 'k_raw.name', 'Bob']))[0], (await k.raw('UPDATE k_raw SET age = 7'))[0], await k.select(k.raw('1 AS a')), k('k_raw').where({ id: 1 }).toString()];
});
test('raw: several statements', async (scope) => (await open(scope, { multipleStatements: true }).raw('SELECT 1 AS a; SELECT 2 AS b'))[0]);
on('raw: procedure', async (k) => {
  await k.raw('CREATE PROCEDURE k_proc (n INT) SELECT n + 1 AS m');
  return (await k.raw('CALL k_proc(?)', [4]))[0];
});
on('stream', async (k) => {
  const out = [];
  for await (const row of k.select(k.raw('1 AS a')).union([k.select(k.raw('2 AS a'))]).stream()) out.push(row);
  return out;
});
on('transaction: commit and roll back', async (k) => {
  await people(k, 'k_tx');
  await k.transaction(async (trx) => trx('k_tx').update({ age: 1 }));
  const e = await k.transaction(async (trx) => {
    await trx('k_tx').del();
    throw new Error('back');
  }).catch((x) => x.message);
  return [e, await k('k_tx').count('* as n').sum('age as s')];
});
on('transaction: by hand', async (k) => {
  await people(k, 'k_hand');
  const trx = await k.transaction();
  await trx('k_hand').insert({ name: 'in' });
  const seen = [await trx('k_hand').count('* as n'), await k('k_hand').count('* as n')];
  await trx.rollback();
  return [seen, trx.isCompleted(), await k('k_hand').count('* as n')];
});
on('transaction: nested are savepoints', async (k) => {
  await people(k, 'k_nest');
  await k.transaction(async (trx) => {
    await trx('k_nest').insert({ name: 'outer' });
    await trx.transaction(async (inner) => {
      await inner('k_nest').insert({ name: 'inner' });
      throw new Error('inner');
    }).catch(() => {});
    await trx.transaction(async (inner) => inner('k_nest').insert({ name: 'kept' }));
  });
  return k('k_nest').pluck('name').orderBy('id');
});
for (const isolationLevel of ['read uncommitted', 'read committed', 'repeatable read', 'serializable']) {
  on(`transaction: ${isolationLevel}`, async (k) => {
    const table = `k_${isolationLevel.replace(' ', '_')}`;
    await people(k, table);
    return k.transaction(async (trx) => {
      const before = await trx(table).count('* as n');
      if (isolationLevel !== 'serializable') await k(table).insert({ name: 'other' });
      return [before, await trx(table).count('* as n')];
    }, { isolationLevel });
  });
}
on('transaction: read only', async (k) => {
  await people(k, 'k_ro');
  return k.transaction(async (trx) => trx('k_ro').insert({ name: 'x' }), { readOnly: true }).then(() => 'none', (e) => e.code);
});
on('transaction: locks', async (k) => {
  await people(k, 'k_lock');
  return k.transaction(async (a) => {
    await a('k_lock').where({ id: 1 }).forUpdate();
    return k.transaction(async (b) => [await b('k_lock').forUpdate().skipLocked().pluck('id').orderBy('id'), await b('k_lock').where({ id: 1 }).forUpdate().noWait().then(() => 'none', (e) => e.code), await b('k_lock').where({ id: 2 }).forShare().pluck('name')]);
  });
});
on('schema: create with everything', async (k) => {
  await k.schema.createTable('k_parent', (t) => { t.increments(); t.comment('the parent'); t.engine('InnoDB'); t.charset('utf8mb4'); t.collate('utf8mb4_bin'); });
  await k.schema.createTable('k_child', (t) => {
    t.increments();
    t.integer('parent').unsigned().references('id').inTable('k_parent').onDelete('CASCADE').onUpdate('CASCADE');
    t.string('name').defaultTo('x').comment('its name').index();
    t.timestamps(true, true);
    t.unique(['name', 'parent'], { indexName: 'both' });
    t.check('?? <> ?', ['name', 'forbidden'], 'named_check');
  });
  return [(await k.raw('SHOW CREATE TABLE k_child'))[0], (await k.raw('SHOW CREATE TABLE k_parent'))[0], await k.schema.hasTable('k_child'), await k.schema.hasColumn('k_child', 'name'), await k.schema.hasColumn('k_child', 'no')];
});
on('schema: alter', async (k) => {
  await people(k, 'k_alter');
  await k.schema.alterTable('k_alter', (t) => { t.string('extra').after('name').defaultTo('e'); t.renameColumn('age', 'years'); t.index(['name'], 'by_name'); t.dropUnique('mail'); });
  await k.schema.alterTable('k_alter', (t) => { t.string('extra', 10).notNullable().alter(); t.dropIndex('name', 'by_name'); t.dropColumn('mail'); });
  const info = await k('k_alter').columnInfo();
  await k.schema.renameTable('k_alter', 'k_renamed');
  return [info, await k('k_renamed').orderBy('id'), await k.schema.dropTableIfExists('k_renamed').then(() => k.schema.hasTable('k_renamed'))];
});
on('schema: views', async (k) => {
  await people(k, 'k_viewed');
  await k.schema.createView('k_view', (v) => { v.columns(['n']); v.as(k('k_viewed').select('name')); });
  const a = await k('k_view').orderBy('n');
  await k.schema.createViewOrReplace('k_view', (v) => { v.columns(['n']); v.as(k('k_viewed').select('age').whereNotNull('age')); });
  const b = await k('k_view').orderBy('n');
  await k.schema.dropView('k_view');
  return [a, b];
});
// migrations come from memory instead of a directory.
const migrations = {
  getMigrations: async () => ['one', 'two'],
  getMigrationName: (m) => m,
  getMigration: async (m) => ({
    one: { up: (k) => k.schema.createTable('k_m1', (t) => { t.increments(); }), down: (k) => k.schema.dropTable('k_m1') },
    two: { up: (k) => k.schema.alterTable('k_m1', (t) => { t.string('v'); }), down: (k) => k.schema.alterTable('k_m1', (t) => { t.dropColumn('v'); }) },
  })[m],
};
on('migrations: up, list, down, locks', async (k) => {
  const o = { migrationSource: migrations, tableName: 'k_migrations' };
  const out = [await k.migrate.latest(o).then(([batch, log]) => [batch, log]), await k.migrate.latest(o), await k.migrate.currentVersion(o), await k('k_migrations').select('name', 'batch').orderBy('id'), await k('k_m1').columnInfo()];
  out.push(await k.migrate.down(o), await k.migrate.up(o), await k.migrate.rollback(o, true), await k.schema.hasTable('k_m1'), await k('k_migrations_lock').select('is_locked'));
  return out;
});
on('migrations: one that fails leaves the lock free', async (k) => {
  const bad = { getMigrations: async () => ['bad'], getMigrationName: (m) => m, getMigration: async () => ({ up: (x) => x.raw('SELEC'), down: () => {} }) };
  const o = { migrationSource: bad, tableName: 'k_bad' };
  const e = await k.migrate.latest(o).catch((x) => x.code);
  return [e, await k('k_bad_lock').select('is_locked')];
});
on('errors', async (k) => {
  await people(k, 'k_errors');
  const out = [];
  for (const run of [() => k('no_such_table'), () => k('k_errors').select('nothing'), () => k('k_errors').insert({ name: 'x', mail: 'a@x' }), () => k('k_errors').insert({ age: 1 }), () => k.raw('SELEC'), () => k.schema.createTable('k_errors', (t) => t.increments()), () => k('k_errors').insert({ name: 'long'.repeat(50) })]) {
    out.push(await run().then(() => 'none', (e) => [e.code, e.errno, e.sqlMessage]));
  }
  return out;
});
on('time limit with cancel', async (k) => {
  const e = await k.raw('SELECT SLEEP(3)').timeout(100, { cancel: true }).catch((x) => x.name);
  return [e, (await k.raw('SELECT 1 AS after'))[0]];
});
test('pool: 50 at once over 3', async (scope) => {
  const k = open(scope, {}, { pool: { min: 0, max: 3 } });
  return Promise.all(Array.from({ length: 50 }, (_, i) => k.select(k.raw('? AS i', [i])).first()));
});
test('pool: afterCreate sets the session', async (scope) => {
  const k = open(scope, {}, { pool: { min: 0, max: 2, afterCreate: (c, done) => c.query("SET time_zone = '+03:00', @own = 7", (e) => done(e, c)) } });
  return (await k.raw('SELECT @@time_zone AS z, @own AS o'))[0];
});
test('connect: wrong password', async (scope) => (await refused(open(scope, { password: 'wrong' }).raw('SELECT 1'))).error.code);
test('connect: unknown database', async (scope) => (await refused(open(scope, { database: 'no_such_database' }).raw('SELECT 1'))).error.code);
on('events', async (k) => {
  const log = [];
  k.on('query', (q) => log.push(['query', q.sql]));
  k.on('query-response', (r) => log.push(['response', r.length]));
  k.on('query-error', (e) => log.push(['error', e.code]));
  await k.select(k.raw('1 AS a'));
  await k('no_such_table').catch(() => {});
  return log;
});
on('hints and comments', async (k) => k.select(k.raw('1 AS a')).comment('from the suite').hintComment('MAX_EXECUTION_TIME(1000)'));
go();
