'use strict';
require('reflect-metadata');
const { DataSource, EntitySchema, Not, LessThan, MoreThanOrEqual, Between, In, Like, IsNull, Raw, Brackets, Table, TableColumn, TableIndex, TableForeignKey } = require('typeorm');
const { test, endpoint, refused, go } = require('harness');

const options = (more) => ({ type: 'mysql', connectorPackage: 'mysql2', host: endpoint.host, port: endpoint.port, username: endpoint.user, password: endpoint.password, database: endpoint.database, synchronize: true, ...more });
const open = async (scope, entities = [], more = {}) => {
  const ds = new DataSource(options({ entities, ...more }));
  scope.defer(() => ds.destroy());
  return ds.initialize();
};
const json = (x) => JSON.parse(JSON.stringify(x));
const id = { type: 'int', primary: true, generated: true };
const entity = (name, columns, more = {}) => new EntitySchema({ name, tableName: name, columns: { id, ...columns }, ...more });

// people is an entity with rows in a table of its own.
const people = async (scope, name, more) => {
  const ds = await open(scope, [entity(name, { name: { type: 'varchar', length: 40 }, age: { type: 'int', nullable: true }, mail: { type: 'varchar', nullable: true, unique: true } })], more);
  const repo = ds.getRepository(name);
  await repo.save([{ name: 'Ann', age: 30, mail: 'a@x' }, { name: 'Bob', age: 25, mail: 'b@x' }, { name: 'Cid', age: 40, mail: 'c@x' }, { name: 'Dot', mail: 'd@x' }]);
  return { ds, repo, manager: ds.manager };
};

test('initialize and destroy', async (scope) => {
  const ds = await open(scope);
  const out = [ds.isInitialized, await ds.query('SELECT 1 AS one')];
  await ds.destroy();
  return [...out, ds.isInitialized];
});
test('synchronize: create, then change', async (scope) => {
  const look = (ds) => ds.query("SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_KEY FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'to_sync' ORDER BY ordinal_position");
  const first = await open(scope, [entity('to_sync', { a: { type: 'int' }, b: { type: 'varchar', length: 10, default: 'x' } }, { indices: [{ columns: ['a'], name: 'by_a' }] })]);
  const one = await look(first);
  const second = await open(scope, [entity('to_sync', { a: { type: 'bigint' }, c: { type: 'datetime', precision: 3, nullable: true } })]);
  const two = await look(second);
  await second.synchronize(true);
  return [one, two, await look(second)];
});
test('synchronize: nothing left to do', async (scope) => {
  const e = entity('to_keep', { a: { type: 'decimal', precision: 10, scale: 2, default: 1.5 }, b: { type: 'enum', enum: ['x', 'y'], default: 'x' }, c: { type: 'timestamp', default: () => 'CURRENT_TIMESTAMP' }, d: { type: 'json', nullable: true }, e: { type: 'tinyint', width: 1, default: true } }, { uniques: [{ columns: ['a', 'b'], name: 'u_ab' }] });
  await open(scope, [e]);
  const again = await open(scope, [e], { synchronize: false });
  const sql = await again.driver.createSchemaBuilder().log();
  return sql.upQueries.map((q) => q.query);
});
test('save, find, count', async (scope) => {
  const { repo } = await people(scope, 't_find');
  return json([await repo.find({ order: { id: 'ASC' } }), await repo.findOneBy({ name: 'Bob' }), await repo.findOne({ where: { id: 99 } }), await repo.count(), await repo.findAndCount({ take: 2, skip: 1, order: { name: 'ASC' } }), await repo.exists({ where: { name: 'Ann' } }), await repo.find({ select: { name: true }, order: { age: 'DESC' }, where: { age: Not(IsNull()) } })]);
});
test('find operators', async (scope) => {
  const { repo } = await people(scope, 't_where');
  const out = [];
  for (const where of [{ age: LessThan(30) }, { age: MoreThanOrEqual(30) }, { age: Between(20, 30) }, { name: In(['Ann', 'Dot']) }, { name: Like('%o%') }, { age: IsNull() }, { name: Not('Ann') }, [{ age: 25 }, { name: 'Cid' }], { age: Raw((a) => `${a} + :n > :m`, { n: 1, m: 30 }) }, { name: "it's" }, { name: Not(In(['Ann'])), age: Not(IsNull()) }]) {
    out.push((await repo.find({ where, order: { id: 'ASC' } })).map((p) => p.name));
  }
  return out;
});
test('aggregates of a repository', async (scope) => {
  const { repo } = await people(scope, 't_agg');
  return [await repo.sum('age'), await repo.average('age'), await repo.minimum('age'), await repo.maximum('age'), await repo.countBy({ age: 25 })];
});
test('update, increment, delete, remove, clear', async (scope) => {
  const { repo } = await people(scope, 't_change');
  const out = [await repo.update({ age: LessThan(35) }, { age: 1 }), await repo.increment({ name: 'Ann' }, 'age', 5), await repo.decrement({ id: 2 }, 'age', 1), await repo.delete({ age: IsNull() })];
  const cid = await repo.findOneBy({ name: 'Cid' });
  cid.name = 'Sid';
  out.push(await repo.save(cid), await repo.find({ order: { id: 'ASC' } }));
  await repo.remove(cid);
  out.push(await repo.count());
  await repo.clear();
  return json([...out, await repo.count()]);
});
test('insert and its result', async (scope) => {
  const { repo } = await people(scope, 't_insert');
  return json([await repo.insert({ name: 'Eve' }), await repo.insert([{ name: 'F' }, { name: 'G', age: 1 }]), await repo.find({ order: { id: 'ASC' } })]);
});
test('upsert', async (scope) => {
  const { repo } = await people(scope, 't_upsert');
  await repo.upsert([{ name: 'Anna', age: 31, mail: 'a@x' }, { name: 'New', age: 1, mail: 'n@x' }], ['mail']);
  return json(await repo.find({ order: { id: 'ASC' } }));
});
test('many rows in chunks', async (scope) => {
  const { repo } = await people(scope, 't_many');
  const saved = await repo.save(Array.from({ length: 300 }, (_, i) => ({ name: `n${i}`, age: i })), { chunk: 100 });
  return [saved.length, saved[0].id, saved[299].id, await repo.count(), await repo.sum('age')];
});
test('query builder: select', async (scope) => {
  const { repo } = await people(scope, 't_qb');
  const qb = () => repo.createQueryBuilder('p');
  return json([
    await qb().where('p.age > :a', { a: 26 }).orderBy('p.id').getMany(), await qb().select('p.name', 'n').addSelect('p.age + 1', 'next').orderBy('p.id').getRawMany(), await qb().where('p.name IN (:...names)', { names: ['Ann', 'Dot'] }).orderBy('p.id').getMany(),
    await qb().select('COUNT(*)', 'n').addSelect('p.age IS NULL', 'w').groupBy('w').having('n > 0').orderBy('w').getRawMany(), await qb().where(new Brackets((b) => b.where('p.age = 25').orWhere('p.age IS NULL'))).andWhere('p.id > 1').orderBy('p.id').getMany(),
    await qb().orderBy('p.age', 'DESC').skip(1).take(2).getManyAndCount(), await qb().where((b) => `p.age = ${b.subQuery().select('MAX(q.age)').from('t_qb', 'q').getQuery()}`).getOne(), await qb().getCount(), await qb().where('p.id = 1').getRawOne(), await qb().where('1 = 0').getOne(), await qb().select('DISTINCT p.age', 'age').orderBy('p.age').getRawMany(),
  ]);
});
test('query builder: insert, update, delete', async (scope) => {
  const { ds, repo } = await people(scope, 't_qbw');
  return json([
    await ds.createQueryBuilder().insert().into('t_qbw').values([{ name: 'x' }, { name: 'y' }]).execute(), await ds.createQueryBuilder().insert().into('t_qbw').values({ id: 1, name: 'no', mail: 'a@x' }).orIgnore().execute().then((r) => r.raw.affectedRows),
    await ds.createQueryBuilder().insert().into('t_qbw').values({ name: 'Anna', mail: 'a@x' }).orUpdate(['name'], ['mail']).execute().then((r) => r.raw.affectedRows), await ds.createQueryBuilder().update('t_qbw').set({ age: () => 'age + 1' }).where('age > :a', { a: 26 }).execute(), await ds.createQueryBuilder().delete().from('t_qbw').where('age IS NULL').execute(), await repo.find({ order: { id: 'ASC' } }),
  ]);
});
test('query builder: joins and CTE', async (scope) => {
  const { repo, ds } = await people(scope, 't_qbj');
  return [await repo.createQueryBuilder('a').innerJoin('t_qbj', 'b', 'b.id = a.id + 1').select(['a.name AS n', 'b.name AS m']).orderBy('a.id').getRawMany(), await ds.createQueryBuilder().addCommonTableExpression('SELECT 1 AS v UNION SELECT 2', 'c').from('c', 'c').select('SUM(c.v)', 's').getRawMany()];
});
test('query builder: stream', async (scope) => {
  const { repo } = await people(scope, 't_stream');
  const out = [];
  for await (const row of await repo.createQueryBuilder('p').orderBy('p.id').stream()) out.push(row.p_name);
  return out;
});
test('types', async (scope) => {
  const e = entity('t_types', {
    big: { type: 'bigint', unsigned: true, nullable: true }, dec: { type: 'decimal', precision: 20, scale: 6, nullable: true }, dbl: { type: 'double', nullable: true }, flag: { type: 'boolean', nullable: true }, at: { type: 'datetime', precision: 6, nullable: true }, day: { type: 'date', nullable: true }, time: { type: 'time', nullable: true }, ts: { type: 'timestamp', nullable: true },
    text: { type: 'longtext', nullable: true }, bin: { type: 'blob', nullable: true }, kind: { type: 'enum', enum: ['a', 'b'], nullable: true }, kinds: { type: 'set', enum: ['x', 'y', 'z'], nullable: true }, doc: { type: 'json', nullable: true }, arr: { type: 'simple-array', nullable: true }, sj: { type: 'simple-json', nullable: true }, yr: { type: 'year', nullable: true }, ti: { type: 'tinyint', nullable: true }, f: { type: 'float', nullable: true }, bits: { type: 'bit', width: 8, nullable: true }, vb: { type: 'varbinary', length: 10, nullable: true },
  });
  const ds = await open(scope, [e]);
  const repo = ds.getRepository('t_types');
  await repo.save({ big: '18446744073709551615', dec: '12345678901234.567891', dbl: 1.1, flag: true, at: new Date('2024-02-29T12:34:56.789Z'), day: '2024-02-29', time: '12:34:56', ts: new Date('2024-01-01T00:00:00Z'), text: 'ü😀', bin: Buffer.from([0, 255]), kind: 'b', kinds: ['x', 'z'], doc: { a: [1, null] }, arr: ['p', 'q'], sj: { s: 1 }, yr: 2024, ti: -5, f: 0.5, bits: Buffer.from([5]), vb: Buffer.from('v') });
  await repo.save({});
  return [await repo.find({ order: { id: 'ASC' } }), await ds.query("SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 't_types' ORDER BY ordinal_position")].map((x) => x.map((r) => ({ ...r })));
});
test('big numbers as strings', async (scope) => {
  const ds = await open(scope, [new EntitySchema({ name: 't_big', tableName: 't_big', columns: { id: { type: 'bigint', primary: true, generated: true, unsigned: true }, v: { type: 'int' } } })], { supportBigNumbers: true, bigNumberStrings: true });
  const repo = ds.getRepository('t_big');
  await repo.insert({ id: '9007199254740993', v: 1 });
  const next = await repo.save({ v: 2 });
  return json([next, await repo.find({ order: { v: 'ASC' } }), await repo.findOneBy({ id: '9007199254740993' })]);
});
test('uuid, dates of creation, versions, soft deletion', async (scope) => {
  const e = new EntitySchema({ name: 't_auto', tableName: 't_auto', columns: { uid: { type: 'varchar', length: 36, primary: true, generated: 'uuid' }, a: { type: 'int' }, made: { type: 'datetime', createDate: true }, changed: { type: 'datetime', updateDate: true }, gone: { type: 'datetime', deleteDate: true, nullable: true }, ver: { type: 'int', version: true } } });
  const repo = (await open(scope, [e])).getRepository('t_auto');
  const x = await repo.save({ a: 1 });
  const out = [x.uid.length, x.ver, x.made instanceof Date];
  x.a = 2;
  await repo.save(x);
  out.push(x.ver);
  await repo.softRemove(x);
  out.push(await repo.count(), await repo.count({ withDeleted: true }));
  await repo.restore({ uid: x.uid });
  return [...out, await repo.count(), (await repo.findOneBy({ uid: x.uid })).ver];
});

// library is authors, books and tags with all kinds of relation.
const library = async (scope, p) => {
  const Author = entity(`${p}_author`, { name: { type: 'varchar' } }, { relations: { profile: { type: 'one-to-one', target: `${p}_profile`, joinColumn: true, cascade: true, nullable: true }, books: { type: 'one-to-many', target: `${p}_book`, inverseSide: 'author', cascade: true } } });
  const Profile = entity(`${p}_profile`, { bio: { type: 'varchar' } });
  const Book = entity(`${p}_book`, { title: { type: 'varchar' }, price: { type: 'decimal', precision: 10, scale: 2, default: 0 } }, { relations: { author: { type: 'many-to-one', target: `${p}_author`, inverseSide: 'books', onDelete: 'CASCADE', nullable: true }, tags: { type: 'many-to-many', target: `${p}_tag`, joinTable: true, cascade: true } } });
  const Tag = entity(`${p}_tag`, { word: { type: 'varchar' } });
  const ds = await open(scope, [Author, Profile, Book, Tag]);
  const authors = ds.getRepository(`${p}_author`);
  await authors.save({ name: 'Ann', profile: { bio: 'of Ann' }, books: [{ title: 'One', price: 9.5, tags: [{ word: 'red' }, { word: 'blue' }] }, { title: 'Two', price: 20 }] });
  await authors.save({ name: 'Bob', books: [{ title: 'Three', price: 1 }] });
  return { ds, authors, books: ds.getRepository(`${p}_book`), tags: ds.getRepository(`${p}_tag`) };
};
test('relations: eager', async (scope) => {
  const { authors, books } = await library(scope, 'r');
  return json([
    await authors.find({ relations: { profile: true, books: { tags: true } }, order: { id: 'ASC', books: { id: 'ASC', tags: { id: 'ASC' } } } }), await books.find({ relations: { author: true }, where: { author: { name: 'Bob' } } }), await authors.find({ relations: { books: true }, relationLoadStrategy: 'query', order: { id: 'ASC', books: { id: 'ASC' } } }),
    await authors.createQueryBuilder('a').leftJoinAndSelect('a.books', 'b', 'b.price > :p', { p: 5 }).orderBy('a.id').addOrderBy('b.id').getMany(), await authors.find({ relations: { books: true }, take: 1, order: { name: 'DESC' } }), await authors.createQueryBuilder('a').loadRelationCountAndMap('a.n', 'a.books').orderBy('a.id').getMany(),
  ]);
});
test('relations: set, add, remove', async (scope) => {
  const { ds, authors, books, tags } = await library(scope, 's');
  const qb = ds.createQueryBuilder();
  await qb.relation('s_author', 'books').of(2).add(1);
  const green = await tags.save({ word: 'green' });
  await ds.createQueryBuilder().relation('s_book', 'tags').of(2).add(green);
  await ds.createQueryBuilder().relation('s_book', 'tags').of(1).remove(1);
  await ds.createQueryBuilder().relation('s_book', 'author').of(3).set(null);
  const out = [await books.find({ relations: { author: true, tags: true }, order: { id: 'ASC', tags: { id: 'ASC' } } })];
  await authors.delete(2);
  return json([...out, await books.count()]);
});
test('transaction: commit and roll back', async (scope) => {
  const { ds, repo } = await people(scope, 't_tx');
  await ds.transaction(async (m) => m.update('t_tx', { name: 'Ann' }, { age: 1 }));
  const e = await ds.transaction(async (m) => {
    await m.clear === undefined || (await m.delete('t_tx', { name: 'Bob' }));
    throw new Error('back');
  }).catch((x) => x.message);
  return [e, await repo.count(), await repo.sum('age')];
});
test('transaction: nested are savepoints', async (scope) => {
  const { ds, repo } = await people(scope, 't_nested');
  await ds.transaction(async (m) => {
    await m.insert('t_nested', { name: 'outer' });
    await m.transaction(async (inner) => {
      await inner.insert('t_nested', { name: 'inner' });
      throw new Error('inner');
    }).catch(() => {});
    await m.transaction(async (inner) => inner.insert('t_nested', { name: 'kept' }));
  });
  return (await repo.find({ order: { id: 'ASC' } })).map((p) => p.name);
});
for (const level of ['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE']) {
  test(`transaction: ${level}`, async (scope) => {
    const table = `t_${level.replace(' ', '_').toLowerCase()}`;
    const { ds, repo } = await people(scope, table);
    return ds.transaction(level, async (m) => {
      const before = await m.count(table);
      if (level !== 'SERIALIZABLE') await repo.insert({ name: 'other' });
      return [before, await m.count(table)];
    });
  });
}
test('transaction: query runner', async (scope) => {
  const { ds, repo } = await people(scope, 't_runner');
  const r = ds.createQueryRunner();
  await r.connect();
  await r.startTransaction();
  await r.manager.save('t_runner', { name: 'in' });
  const seen = [await r.manager.count('t_runner'), await repo.count(), r.isTransactionActive];
  await r.rollbackTransaction();
  await r.release();
  return [seen, await repo.count()];
});
test('transaction: locks', async (scope) => {
  const { ds } = await people(scope, 't_lock');
  return ds.transaction(async (a) => {
    await a.findOne('t_lock', { where: { id: 1 }, lock: { mode: 'pessimistic_write' } });
    return ds.transaction(async (b) => [
      (await b.find('t_lock', { order: { id: 'ASC' }, lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' } })).map((p) => p.id), await b.findOne('t_lock', { where: { id: 1 }, lock: { mode: 'pessimistic_write', onLocked: 'nowait' } }).then(() => 'none', (e) => e.driverError.code),
    ]);
  });
});
test('query runner: tables', async (scope) => {
  const ds = await open(scope);
  const r = ds.createQueryRunner();
  scope.defer(() => r.release());
  await r.createTable(new Table({ name: 'qr_parent', columns: [{ name: 'id', type: 'int', isPrimary: true }] }), true);
  await r.createTable(new Table({ name: 'qr', columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'increment' }, { name: 'name', type: 'varchar', length: '20', default: "'x'" }, { name: 'parent', type: 'int', isNullable: true }] }), true);
  await r.addColumn('qr', new TableColumn({ name: 'extra', type: 'int', default: 5 }));
  await r.createIndex('qr', new TableIndex({ name: 'by_name', columnNames: ['name'], isUnique: true }));
  await r.createForeignKey('qr', new TableForeignKey({ name: 'of_parent', columnNames: ['parent'], referencedTableName: 'qr_parent', referencedColumnNames: ['id'], onDelete: 'SET NULL' }));
  await r.renameColumn('qr', 'extra', 'more');
  await r.changeColumn('qr', 'name', new TableColumn({ name: 'name', type: 'varchar', length: '30', isNullable: true }));
  const t = await r.getTable('qr');
  const about = [t.columns.map((c) => [c.name, c.type, c.length, c.isNullable, c.default, c.isGenerated]).sort((a, b) => (a[0] < b[0] ? -1 : 1)), t.indices.map((i) => [i.name, i.columnNames, i.isUnique]).sort((a, b) => (a[0] < b[0] ? -1 : 1)), t.foreignKeys.map((k) => [k.name, k.columnNames, k.referencedTableName, k.onDelete])];
  await r.dropForeignKey('qr', 'of_parent');
  await r.dropIndex('qr', 'by_name').catch((e) => about.push(e.message));
  await r.dropColumn('qr', 'more');
  await r.renameTable('qr', 'qr_moved');
  about.push(await r.hasTable('qr'), await r.hasTable('qr_moved'), await r.hasColumn('qr_moved', 'name'));
  await r.dropTable('qr_moved');
  await r.dropTable('qr_parent');
  return [about, await r.hasDatabase(endpoint.database), await r.getCurrentDatabase(), await r.hasTable('qr_moved')];
});
test('query runner: databases', async (scope) => {
  const r = (await open(scope)).createQueryRunner();
  scope.defer(() => r.release());
  await r.createDatabase('to_other', true);
  const has = await r.hasDatabase('to_other');
  await r.dropDatabase('to_other', true);
  return [has, await r.hasDatabase('to_other')];
});
class First1700000000001 {
  async up(r) { await r.query('CREATE TABLE migrated_one (id INT PRIMARY KEY)'); }
  async down(r) { await r.query('DROP TABLE migrated_one'); }
}
class Second1700000000002 {
  async up(r) { await r.query('ALTER TABLE migrated_one ADD v VARCHAR(5)'); await r.query("INSERT INTO migrated_one VALUES (1, 'a')"); }
  async down(r) { await r.query('ALTER TABLE migrated_one DROP v'); }
}
class Bad1700000000003 {
  async up(r) { await r.query('SELEC'); }
  async down() {}
}
test('migrations: up and down', async (scope) => {
  const ds = await open(scope, [], { synchronize: false, migrations: [First1700000000001, Second1700000000002], migrationsTableName: 'my_migrations' });
  const out = [await ds.showMigrations(), (await ds.runMigrations()).map((m) => m.name), await ds.showMigrations(), await ds.query('SELECT * FROM migrated_one'), await ds.query('SELECT name FROM my_migrations ORDER BY id')];
  await ds.undoLastMigration();
  out.push(await ds.query('SHOW COLUMNS FROM migrated_one'));
  await ds.undoLastMigration();
  return json([...out, await ds.query("SHOW TABLES LIKE 'migrated%'")]);
});
test('migrations: one that fails', async (scope) => {
  const ds = await open(scope, [], { synchronize: false, migrations: [Bad1700000000003], migrationsTableName: 'bad_migrations' });
  return [await ds.runMigrations().catch((e) => e.driverError.code), await ds.query('SELECT COUNT(*) AS n FROM bad_migrations')];
});
test('views', async (scope) => {
  const { ds } = await people(scope, 't_viewed');
  const View = new EntitySchema({ name: 't_view', tableName: 't_view', type: 'view', expression: 'SELECT name, age FROM t_viewed WHERE age > 26', columns: { name: { type: 'varchar' }, age: { type: 'int' } } });
  const v = await open(scope, [ds.getMetadata('t_viewed') && entity('t_viewed', { name: { type: 'varchar', length: 40 }, age: { type: 'int', nullable: true }, mail: { type: 'varchar', nullable: true, unique: true } }), View]);
  return json(await v.getRepository('t_view').find({ order: { age: 'ASC' } }));
});
test('raw: parameters and results', async (scope) => {
  const { ds } = await people(scope, 't_raw');
  return json([await ds.query('SELECT ? + ? AS s, ? AS t', [1, 2, "o'x"]), await ds.query("INSERT INTO t_raw (name) VALUES ('r')"), await ds.query('UPDATE t_raw SET age = 7'), await ds.query('SELECT * FROM t_raw WHERE id IN (?) ORDER BY id', [[1, 2]]), await ds.sql`SELECT ${5} AS five`]);
});
test('raw: several statements', async (scope) => json(await (await open(scope, [], { multipleStatements: true })).query('SELECT 1 AS a; SELECT 2 AS b')));
test('raw: procedure', async (scope) => {
  const ds = await open(scope);
  await ds.query('CREATE PROCEDURE t_proc (n INT) SELECT n + 1 AS m');
  return json(await ds.query('CALL t_proc(?)', [4]));
});
test('errors', async (scope) => {
  const { ds, repo } = await people(scope, 't_errors');
  const out = [];
  for (const run of [() => ds.query('SELECT * FROM no_such_table'), () => repo.insert({ name: 'x', mail: 'a@x' }), () => repo.insert({ age: 1 }), () => ds.query('SELEC'), () => repo.insert({ name: 'long'.repeat(50) }), () => repo.findOneOrFail({ where: { id: 99 } })]) {
    out.push(await run().then(() => 'none', (e) => [e.name, e.code, e.errno, e.sqlMessage]));
  }
  return out;
});
test('subscribers', async (scope) => {
  const log = [];
  class Subscriber {
    listenTo() { return 't_sub'; }
    beforeInsert(e) { log.push(['beforeInsert', e.entity.name]); }
    afterInsert(e) { log.push(['afterInsert', e.entity.id]); }
    afterUpdate(e) { log.push(['afterUpdate', e.updatedColumns.map((c) => c.propertyName)]); }
    afterRemove() { log.push(['afterRemove']); }
    afterLoad(e) { log.push(['afterLoad', e.name]); }
    beforeTransactionCommit() { log.push(['commit']); }
  }
  const ds = await open(scope, [entity('t_sub', { name: { type: 'varchar' } })]);
  ds.subscribers.push(new Subscriber());
  const repo = ds.getRepository('t_sub');
  const x = await repo.save({ name: 'a' });
  x.name = 'b';
  await repo.save(x);
  await repo.find();
  await repo.remove(x);
  return log;
});
test('tree: closure table', async (scope) => {
  const relations = { parent: { type: 'many-to-one', target: 't_tree', treeParent: true, inverseSide: 'children' }, children: { type: 'one-to-many', target: 't_tree', treeChildren: true, inverseSide: 'parent' } };
  const ds = await open(scope, [entity('t_tree', { name: { type: 'varchar' } }, { relations, trees: [{ type: 'closure-table' }] })]);
  const repo = ds.getTreeRepository('t_tree');
  const a = await repo.save({ name: 'a' });
  const b = await repo.save({ name: 'b', parent: a });
  await repo.save({ name: 'c', parent: b });
  return json([await repo.findTrees(), await repo.countDescendants(a), (await repo.findAncestors(b)).map((x) => x.name).sort()]);
});
test('cache of queries in a table', async (scope) => {
  const { repo, ds } = await people(scope, 't_cached', { cache: true });
  const q = () => repo.find({ order: { id: 'ASC' }, cache: { id: 'all', milliseconds: 60000 } });
  const one = (await q()).length;
  await ds.query("DELETE FROM t_cached WHERE name = 'Ann'");
  const two = (await q()).length;
  await ds.queryResultCache.remove(['all']);
  return [one, two, (await q()).length];
});
for (const timezone of ['Z', '+05:30']) {
  test(`time zone ${timezone}`, async (scope) => {
    const table = `t_zone_${timezone.replace(/\W/g, '_')}`;
    const ds = await open(scope, [entity(table, { at: { type: 'datetime' } })], { timezone });
    const repo = ds.getRepository(table);
    await repo.save({ at: new Date('2024-07-01T10:00:00Z') });
    return json([await repo.find(), await ds.query(`SELECT CAST(at AS CHAR) AS at FROM ${table}`)]);
  });
}
test('pool: 40 at once over 3', async (scope) => {
  const ds = await open(scope, [], { poolSize: 3 });
  return json(await Promise.all(Array.from({ length: 40 }, (_, i) => ds.query('SELECT ? AS i', [i]))));
});
test('connect: wrong password', async (scope) => (await refused(open(scope, [], { password: 'wrong' }))).error.code);
test('connect: unknown database', async (scope) => (await refused(open(scope, [], { database: 'no_such_database' }))).error.code);
test('max execution time', async (scope) => {
  const { repo } = await people(scope, 't_limit', { maxQueryExecutionTime: 1000 });
  return (await repo.createQueryBuilder('p').maxExecutionTime(1000).orderBy('p.id').getMany()).length;
});
go();
