'use strict';
const { Sequelize, DataTypes, Op, QueryTypes, Transaction } = require('sequelize');
const { test, endpoint, refused, go } = require('harness');

const open = (scope, options = {}) => {
  const db = new Sequelize({ ...endpoint, username: endpoint.user, dialect: 'mysql', logging: false, ...options });
  scope.defer(() => db.close());
  return db;
};
const json = (x) => JSON.parse(JSON.stringify(x));
const timeless = { timestamps: false };

// people makes a model with rows; each case has a table of its own.
const people = async (db, tableName) => {
  const Person = db.define('Person', { name: { type: DataTypes.STRING(40), allowNull: false }, age: DataTypes.INTEGER, mail: { type: DataTypes.STRING, unique: true } }, { tableName, ...timeless });
  await Person.sync();
  await Person.bulkCreate([{ name: 'Ann', age: 30, mail: 'a@x' }, { name: 'Bob', age: 25, mail: 'b@x' }, { name: 'Cid', age: 40, mail: 'c@x' }, { name: 'Dot', age: null, mail: 'd@x' }]);
  return Person;
};
const on = (name, run) => test(name, async (scope) => run(open(scope), scope));

on('authenticate', async (db) => db.authenticate());
on('server version', async (db) => (await db.query('SELECT VERSION() AS v', { type: QueryTypes.SELECT })).length);
on('sync: create, again, force, alter', async (db) => {
  const define = (more) => db.define('Synced', { a: DataTypes.INTEGER, b: { type: DataTypes.STRING(10), defaultValue: 'x' }, ...more }, { tableName: 'synced', ...timeless, indexes: [{ fields: ['a'] }, { unique: true, fields: ['b'], name: 'by_b' }] });
  const out = [];
  const look = async () => out.push(await db.getQueryInterface().describeTable('synced'));
  await define().sync();
  await define().sync();
  await look();
  await define({ c: DataTypes.DATE(3) }).sync({ alter: true });
  await look();
  await define({ d: DataTypes.TEXT }).sync({ force: true });
  await look();
  return out;
});
on('sync: all models with foreign keys, drop', async (db) => {
  const A = db.define('A', {}, { tableName: 'sync_a', ...timeless });
  const B = db.define('B', {}, { tableName: 'sync_b', ...timeless });
  A.hasMany(B, { onDelete: 'CASCADE' });
  B.belongsTo(A);
  await db.sync();
  const keys = await db.getQueryInterface().getForeignKeyReferencesForTable('sync_b');
  await db.drop();
  return [keys.map((k) => [k.columnName, k.referencedTableName, k.referencedColumnName]), await db.getQueryInterface().showAllTables().then((t) => t.filter((x) => /^sync_/.test(x.tableName || x)))];
});
on('create and find', async (db) => {
  const P = await people(db, 'find_people');
  const eve = await P.create({ name: 'Eve', age: 1, mail: 'e@x' });
  return json([eve, await P.findByPk(eve.id), await P.findOne({ where: { name: 'Bob' } }), await P.findAll({ order: ['id'] }), await P.findByPk(999), await P.count(), await P.findAndCountAll({ limit: 2, offset: 1, order: ['name'] })]);
});
on('where operators', async (db) => {
  const P = await people(db, 'where_people');
  const names = (where) => P.findAll({ where, order: ['id'] }).then((r) => r.map((p) => p.name));
  return Promise.all([
    names({ age: { [Op.gt]: 25 } }), names({ age: { [Op.between]: [20, 30] } }), names({ age: null }), names({ age: { [Op.not]: null } }), names({ name: ['Ann', 'Dot'] }),
    names({ name: { [Op.like]: '%o%' } }), names({ [Op.or]: [{ age: 25 }, { name: 'Cid' }] }), names({ [Op.and]: [{ age: { [Op.gte]: 25 } }, { [Op.not]: { name: 'Ann' } }] }), names({ name: { [Op.startsWith]: 'A' } }),
    names({ name: { [Op.regexp]: '^[AB]' } }), names(db.where(db.fn('char_length', db.col('mail')), 3)), names({ name: { [Op.notIn]: ['Ann'] } }), names({ mail: { [Op.ne]: "it's" } }),
  ]);
});
on('attributes, functions, group, having', async (db) => {
  const P = await people(db, 'group_people');
  return json([
    await P.findAll({ attributes: ['name', [db.fn('UPPER', db.col('name')), 'loud'], [db.literal('age + 1'), 'next']], order: [['age', 'DESC'], 'name'], raw: true }),
    await P.findAll({ attributes: [[db.fn('COUNT', db.col('id')), 'n'], [db.literal('age IS NULL'), 'without']], group: [db.literal('age IS NULL')], order: [db.literal('without')], raw: true }),
    await P.findAll({ attributes: ['age', [db.fn('COUNT', '*'), 'n']], group: 'age', having: db.literal('n > 0'), order: ['age'], raw: true }),
    await P.sum('age'), await P.min('age'), await P.max('age'), await P.aggregate('age', 'AVG', { dataType: 'float' }), await P.count({ distinct: true, col: 'age' }),
  ]);
});
on('update, increment, save, destroy', async (db) => {
  const P = await people(db, 'change_people');
  const out = [await P.update({ age: 50 }, { where: { age: { [Op.lt]: 35 } } }), await P.increment('age', { by: 2, where: { name: 'Ann' } }), await P.decrement({ age: 1 }, { where: { id: 2 } })];
  const cid = await P.findOne({ where: { name: 'Cid' } });
  cid.name = 'Sid';
  out.push(cid.changed(), (await cid.save()).name, await cid.reload());
  await cid.increment('age');
  out.push(await P.destroy({ where: { age: null } }), await P.findAll({ order: ['id'] }));
  await cid.destroy();
  out.push(await P.count(), await P.destroy({ truncate: true }), await P.count());
  return json(out);
});
on('bulk create: update on duplicates, ignore', async (db) => {
  const P = await people(db, 'bulk_people');
  await P.bulkCreate([{ id: 1, name: 'Ann 2', age: 31, mail: 'a@x' }, { id: 9, name: 'New', age: 9, mail: 'n@x' }], { updateOnDuplicate: ['name', 'age'] });
  await P.bulkCreate([{ id: 2, name: 'no', mail: 'zz' }, { id: 10, name: 'Ten', mail: 't@x' }], { ignoreDuplicates: true });
  const many = await P.bulkCreate(Array.from({ length: 500 }, (_, i) => ({ name: `n${i}`, age: i, mail: `${i}@m` })));
  return json([many.length, many[0].id, await P.count(), await P.findAll({ where: { id: { [Op.lte]: 11 } }, order: ['id'] }), await P.sum('age')]);
});
on('upsert', async (db) => {
  const P = await people(db, 'upsert_people');
  return json([await P.upsert({ id: 1, name: 'Anna', mail: 'a@x' }), await P.upsert({ name: 'Zed', age: 2, mail: 'z@x' }), await P.findAll({ order: ['id'] })]);
});
on('findOrCreate, findCreateFind, findOrBuild', async (db) => {
  const P = await people(db, 'or_people');
  return json([await P.findOrCreate({ where: { name: 'Ann' }, defaults: { age: 1 } }), await P.findOrCreate({ where: { name: 'Fay' }, defaults: { age: 2, mail: 'f@x' } }), await P.findCreateFind({ where: { name: 'Gus' }, defaults: { mail: 'g@x' } }), (await P.findOrBuild({ where: { name: 'Hal' } }))[1]]);
});
on('timestamps and paranoid', async (db) => {
  const D = db.define('Doc', { title: DataTypes.STRING }, { tableName: 'docs', paranoid: true });
  await D.sync();
  const d = await D.create({ title: 'one' });
  await D.create({ title: 'two' });
  await d.destroy();
  const out = [await D.count(), await D.count({ paranoid: false }), d.deletedAt instanceof Date, (await D.findAll()).map((x) => x.title)];
  await d.restore();
  out.push(await D.count());
  await d.destroy({ force: true });
  out.push(await D.count({ paranoid: false }), d.createdAt instanceof Date && +d.updatedAt >= +d.createdAt);
  return out;
});
on('versions: optimistic lock', async (db) => {
  const V = db.define('V', { a: DataTypes.INTEGER }, { tableName: 'versions', version: true, ...timeless });
  await V.sync();
  const one = await V.create({ a: 1 });
  const two = await V.findByPk(one.id);
  await one.update({ a: 2 });
  const e = await two.update({ a: 3 }).catch((x) => x.name);
  return json([one, e]);
});
on('types', async (db) => {
  const T = db.define('T', {
    big: DataTypes.BIGINT, ubig: DataTypes.BIGINT.UNSIGNED, dec: DataTypes.DECIMAL(20, 6), dbl: DataTypes.DOUBLE, flag: DataTypes.BOOLEAN, at: DataTypes.DATE(6), day: DataTypes.DATEONLY, time: DataTypes.TIME,
    text: DataTypes.TEXT('long'), bin: DataTypes.BLOB, kind: DataTypes.ENUM('a', 'b'), doc: DataTypes.JSON, id2: DataTypes.UUID, ch: DataTypes.CHAR(4), ti: DataTypes.TINYINT, geo: DataTypes.GEOMETRY('POINT'),
  }, { tableName: 'all_types', ...timeless });
  await T.sync();
  const t = await T.create({
    big: '9223372036854775807', ubig: '18446744073709551615', dec: '12345678901234.567891', dbl: 1.1, flag: true, at: new Date('2024-02-29T12:34:56.789Z'), day: '2024-02-29', time: '12:34:56', text: 'ü😀',
    bin: Buffer.from([0, 1, 255]), kind: 'b', doc: { a: [1, { b: null }], c: 'é' }, id2: '123e4567-e89b-12d3-a456-426614174000', ch: 'ab', ti: -5, geo: { type: 'Point', coordinates: [1, 2.5] },
  });
  await T.create({});
  return [await db.getQueryInterface().describeTable('all_types'), (await T.findByPk(t.id)).get({ plain: true }), (await T.findOne({ where: { flag: null } })).get({ plain: true })];
});
on('big numbers as strings', async (db, scope) => {
  const s = open(scope, { dialectOptions: { supportBigNumbers: true, bigNumberStrings: true } });
  const B = s.define('B', { id: { type: DataTypes.BIGINT.UNSIGNED, primaryKey: true, autoIncrement: true }, v: DataTypes.BIGINT }, { tableName: 'bigs', ...timeless });
  await B.sync();
  await B.create({ id: '9007199254740993', v: '-9223372036854775808' });
  const next = await B.create({ v: 1 });
  return json([next.id, await B.findAll({ order: ['id'] }), await B.findByPk('9007199254740993')]);
});
on('JSON queries', async (db) => {
  const J = db.define('J', { doc: DataTypes.JSON }, { tableName: 'jsons', ...timeless });
  await J.sync();
  await J.bulkCreate([{ doc: { a: 1, b: { c: 'x' } } }, { doc: { a: 2, b: { c: "y'z" } } }]);
  return json([await J.findAll({ where: { doc: { a: 2 } } }), await J.findAll({ where: { 'doc.b.c': 'x' } }), await J.findAll({ attributes: [[db.json('doc.a'), 'a']], order: ['id'], raw: true })]);
});
for (const timezone of ['+00:00', '+05:30', 'Europe/Berlin']) {
  test(`time zone ${timezone}`, async (scope) => {
    const db = open(scope, { timezone: timezone === 'Europe/Berlin' ? '-07:00' : timezone });
    const Z = db.define('Z', { at: DataTypes.DATE }, { tableName: `zone_${timezone.replace(/\W/g, '_')}`, ...timeless });
    await Z.sync();
    await Z.create({ at: new Date('2024-07-01T10:00:00Z') });
    return [json(await Z.findAll()), await db.query('SELECT @@session.time_zone AS z', { type: QueryTypes.SELECT }), await db.query(`SELECT CAST(at AS CHAR) AS at FROM ${Z.tableName}`, { type: QueryTypes.SELECT })];
  });
}

// shop is authors, books and tags with all kinds of association.
const library = async (db, prefix) => {
  const o = (n) => ({ tableName: `${prefix}_${n}`, ...timeless });
  const Author = db.define('Author', { name: DataTypes.STRING }, o('authors'));
  const Profile = db.define('Profile', { bio: DataTypes.STRING }, o('profiles'));
  const Book = db.define('Book', { title: DataTypes.STRING, price: DataTypes.DECIMAL(10, 2) }, o('books'));
  const Tag = db.define('Tag', { word: DataTypes.STRING }, o('tags'));
  Author.hasOne(Profile);
  Profile.belongsTo(Author);
  Author.hasMany(Book, { as: 'books', foreignKey: 'authorId', onDelete: 'CASCADE' });
  Book.belongsTo(Author, { as: 'author', foreignKey: 'authorId' });
  Book.belongsToMany(Tag, { through: `${prefix}_book_tags`, timestamps: false });
  Tag.belongsToMany(Book, { through: `${prefix}_book_tags`, timestamps: false });
  await db.sync();
  // What is created beside each other is in no order.
  const a = await Author.create({ name: 'Ann', Profile: { bio: 'of Ann' }, books: [{ title: 'One', price: 9.5 }] }, { include: [Profile, 'books'] });
  for (const word of ['red', 'blue']) await a.books[0].createTag({ word });
  await a.createBook({ title: 'Two', price: 20 });
  const b = await Author.create({ name: 'Bob', books: [{ title: 'Three', price: 1 }] }, { include: ['books'] });
  return { Author, Profile, Book, Tag, a, b };
};
const sorted = (rows) => json(rows);
on('associations: eager', async (db) => {
  const { Author, Profile, Book, Tag } = await library(db, 'eager');
  return sorted([
    await Author.findAll({ include: [Profile, { model: Book, as: 'books', include: [Tag] }], order: ['id', [{ model: Book, as: 'books' }, 'id'], [{ model: Book, as: 'books' }, Tag, 'id']] }),
    await Author.findAll({ include: [{ model: Book, as: 'books', where: { price: { [Op.gt]: 5 } }, required: true }], order: ['id', [{ model: Book, as: 'books' }, 'id']] }),
    await Author.findAll({ include: [{ model: Book, as: 'books', separate: true, order: ['id'] }], order: ['id'] }),
    await Book.findAll({ include: ['author'], where: { '$author.name$': 'Bob' } }),
    await Author.findAll({ include: [{ model: Book, as: 'books' }], limit: 1, order: [['name', 'DESC']] }),
  ]);
});
on('associations: lazy and set', async (db) => {
  const { Author, Tag, a, b } = await library(db, 'lazy');
  const books = await a.getBooks({ order: ['id'] });
  const out = [books.length, await books[0].countTags(), await books[0].getTags({ order: ['id'] }), await a.getProfile()];
  await b.addBook(books[1]);
  await books[0].setTags([]);
  const green = await Tag.create({ word: 'green' });
  await books[0].addTag(green);
  await b.createBook({ title: 'Four', price: 4 });
  out.push(await b.getBooks({ order: ['id'] }), await books[0].hasTag(green), await a.countBooks());
  await books[0].removeTag(green);
  out.push(await books[0].countTags());
  await Author.destroy({ where: { id: b.id } });
  out.push(await db.models.Book.count());
  return sorted(out);
});
on('associations: counts by subquery', async (db) => {
  const { Author } = await library(db, 'counts');
  return Author.findAll({ attributes: ['name', [db.literal('(SELECT COUNT(*) FROM counts_books b WHERE b.authorId = Author.id)'), 'n']], order: ['id'], raw: true });
});
on('foreign key violated', async (db) => {
  const { Book } = await library(db, 'fk');
  const e = await Book.create({ title: 'x', authorId: 999 }).catch((x) => x);
  return [e.name, e.table, e.fields, e.index];
});
on('errors: unique, null, validation, unknown', async (db) => {
  const P = await people(db, 'error_people');
  const all = [() => P.create({ name: 'x', mail: 'a@x' }), () => P.create({ mail: 'q' }), () => P.create({ name: 'long'.repeat(50), mail: 'l' }), () => db.query('SELECT * FROM no_such_table'), () => db.query('SELEC'), () => P.update({ mail: 'b@x' }, { where: { id: 1 } })];
  const out = [];
  for (const run of all) out.push(await run().then(() => 'none', (e) => [e.name, e.errors && e.errors.map((x) => [x.path, x.message]), e.parent && [e.parent.code, e.parent.errno, e.parent.sqlMessage]]));
  return out;
});
on('hooks and validators', async (db) => {
  const log = [];
  const H = db.define('H', { a: { type: DataTypes.INTEGER, validate: { min: 1 } } }, { tableName: 'hooked', ...timeless, hooks: Object.fromEntries(['beforeValidate', 'beforeCreate', 'afterCreate', 'beforeUpdate', 'afterUpdate', 'beforeDestroy', 'afterDestroy', 'beforeBulkCreate', 'afterFind'].map((h) => [h, () => { log.push(h); }])) });
  await H.sync();
  const h = await H.create({ a: 1 });
  await h.update({ a: 2 });
  await H.findAll();
  await h.destroy();
  await H.bulkCreate([{ a: 3 }]);
  log.push(await H.create({ a: 0 }).catch((e) => e.message));
  return log;
});
on('scopes, getters, virtuals', async (db) => {
  const S = db.define('S', { a: DataTypes.INTEGER, double: { type: DataTypes.VIRTUAL, get() { return this.a * 2; } } }, { tableName: 'scoped', ...timeless, defaultScope: { where: { a: { [Op.gt]: 1 } } }, scopes: { big: { where: { a: { [Op.gt]: 2 } } }, top: (n) => ({ limit: n, order: [['a', 'DESC']] }) } });
  await S.sync();
  await S.bulkCreate([{ a: 1 }, { a: 2 }, { a: 3 }]);
  return json([await S.findAll(), await S.unscoped().count(), await S.scope('big').findAll(), await S.scope({ method: ['top', 1] }).findAll()]);
});
on('transaction: managed, commit and roll back', async (db) => {
  const P = await people(db, 'tx_people');
  await db.transaction(async (transaction) => P.update({ age: 1 }, { where: {}, transaction }));
  const e = await db.transaction(async (transaction) => {
    await P.destroy({ where: {}, transaction });
    throw new Error('back');
  }).catch((x) => x.message);
  return [e, await P.count(), await P.sum('age')];
});
on('transaction: unmanaged, savepoint', async (db) => {
  const P = await people(db, 'save_people');
  const t = await db.transaction();
  await P.create({ name: 'in', mail: 'i' }, { transaction: t });
  const inner = await db.transaction({ transaction: t });
  await P.create({ name: 'inner', mail: 'ii' }, { transaction: inner });
  await inner.rollback();
  const seen = [await P.count({ transaction: t }), await P.count()];
  await t.commit();
  return [seen, await P.count()];
});
for (const level of Object.values(Transaction.ISOLATION_LEVELS)) {
  on(`transaction: ${level}`, async (db) => {
    const P = await people(db, `iso_${level.replace(' ', '_').toLowerCase()}`);
    return db.transaction({ isolationLevel: level }, async (transaction) => {
      const before = await P.count({ transaction });
      if (level !== 'SERIALIZABLE') await P.create({ name: 'other', mail: 'o' });
      return [before, await P.count({ transaction })];
    });
  });
}
on('transaction: locks', async (db) => {
  const P = await people(db, 'lock_people');
  return db.transaction(async (t1) => {
    const a = await P.findByPk(1, { transaction: t1, lock: t1.LOCK.UPDATE });
    const skipped = await db.transaction(async (t2) => P.findAll({ where: { id: [2, 3] }, transaction: t2, lock: true, order: ['id'] }));
    await a.update({ age: 99 }, { transaction: t1 });
    return [skipped.map((x) => x.id), (await P.findByPk(2, { transaction: t1, lock: t1.LOCK.SHARE })).name];
  });
});
on('transaction: afterCommit', async (db) => {
  const log = [];
  await db.transaction(async (t) => { t.afterCommit(() => { log.push('committed'); }); log.push('in'); });
  return log;
});
on('transaction: read only', async (db) => {
  await people(db, 'ro_people');
  const t = await db.transaction({ readOnly: true });
  const e = await db.query("INSERT INTO ro_people (name) VALUES ('x')", { transaction: t }).then(() => 'none', (x) => x.parent.code);
  await t.rollback();
  return e;
});
on('raw: replacements, bind, types', async (db) => {
  await people(db, 'raw_people');
  return json([
    await db.query('SELECT * FROM raw_people WHERE age > :a AND name IN (:n) ORDER BY id', { replacements: { a: 20, n: ['Ann', 'Cid'] }, type: QueryTypes.SELECT }), await db.query('SELECT ? + ? AS s', { replacements: [1, 2], type: QueryTypes.SELECT }),
    await db.query('SELECT $1 AS a, $2 AS b', { bind: [1, "o'x"], type: QueryTypes.SELECT }), await db.query('SELECT $x AS x', { bind: { x: null }, type: QueryTypes.SELECT }), await db.query("UPDATE raw_people SET age = 7 WHERE name = 'Ann'"), await db.query("INSERT INTO raw_people (name, mail) VALUES ('r', 'r')", { type: QueryTypes.INSERT }),
    await db.query('DELETE FROM raw_people WHERE age IS NULL', { type: QueryTypes.BULKDELETE }), await db.query('SELECT 1 AS `a.b`, 2 AS `a.c`', { nest: true, type: QueryTypes.SELECT }), await db.query('SELECT 3 AS v', { plain: true }),
  ]);
});
on('raw: several statements', async (db, scope) => {
  const m = open(scope, { dialectOptions: { multipleStatements: true } });
  return json((await m.query('SELECT 1 AS a; SELECT 2 AS b'))[0]);
});
on('raw: procedure', async (db) => {
  await db.query('CREATE PROCEDURE seq_proc (n INT) SELECT n + 1 AS m');
  return json(await db.query('CALL seq_proc(:n)', { replacements: { n: 4 } }));
});
const migrate = (q) => ({
  up: async () => {
    await q.createTable('migrated', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, name: DataTypes.STRING, owner: DataTypes.INTEGER });
    await q.createTable('migrated_owner', { id: { type: DataTypes.INTEGER, primaryKey: true } });
    await q.addColumn('migrated', 'extra', { type: DataTypes.STRING(5), allowNull: false, defaultValue: 'e' });
    await q.renameColumn('migrated', 'name', 'title');
    await q.changeColumn('migrated', 'title', { type: DataTypes.STRING(100), allowNull: true, defaultValue: 't' });
    await q.addIndex('migrated', ['title', 'extra'], { name: 'by_title', unique: true });
    await q.addConstraint('migrated', { fields: ['owner'], type: 'foreign key', name: 'of_owner', references: { table: 'migrated_owner', field: 'id' }, onDelete: 'set null' });
  },
  down: async () => {
    await q.removeConstraint('migrated', 'of_owner');
    await q.removeIndex('migrated', 'by_title');
    await q.removeColumn('migrated', 'extra');
    await q.renameTable('migrated', 'moved');
    await q.dropTable('moved');
    await q.dropTable('migrated_owner');
  },
});
on('migrations up and down', async (db) => {
  const q = db.getQueryInterface();
  const m = migrate(q);
  await m.up();
  const out = [await q.describeTable('migrated'), (await q.showIndex('migrated')).map((i) => [i.name, i.unique, i.fields.map((f) => f.attribute)]), (await q.getForeignKeyReferencesForTable('migrated')).map((k) => [k.constraintName, k.columnName, k.referencedTableName])];
  await m.down();
  out.push(await q.tableExists('migrated'), await q.tableExists('moved'));
  return out;
});
on('query interface: rows', async (db) => {
  const q = db.getQueryInterface();
  await q.createTable('qi_rows', { id: { type: DataTypes.INTEGER, primaryKey: true }, v: DataTypes.STRING });
  await q.bulkInsert('qi_rows', [{ id: 1, v: 'a' }, { id: 2, v: 'b' }]);
  await q.bulkUpdate('qi_rows', { v: 'c' }, { id: 2 });
  await q.bulkDelete('qi_rows', { id: 1 });
  return q.select(null, 'qi_rows', {});
});
on('query interface: databases and tables', async (db) => {
  const q = db.getQueryInterface();
  await q.createDatabase('seq_other');
  const all = (await q.showAllSchemas()).flatMap((s) => Object.values(s)).filter((n) => n === 'seq_other' || n === endpoint.database).sort();
  await q.dropDatabase('seq_other');
  return [all, await q.databaseVersion().then((v) => typeof v)];
});
test('pool: 40 at once over 3', async (scope) => {
  const db = open(scope, { pool: { max: 3, min: 0 } });
  return Promise.all(Array.from({ length: 40 }, (_, i) => db.query('SELECT ? AS i', { replacements: [i], type: QueryTypes.SELECT })));
});
test('pool: transactions wait for each other', async (scope) => {
  const db = open(scope, { pool: { max: 2 } });
  const P = await people(db, 'pool_people');
  await Promise.all(Array.from({ length: 10 }, () => db.transaction(async (transaction) => {
    const a = await P.findByPk(1, { transaction, lock: true });
    await a.update({ age: a.age + 1 }, { transaction });
  })));
  return (await P.findByPk(1)).age;
});
test('connect: wrong password', async (scope) => (await refused(open(scope, { password: 'wrong', retry: { max: 1 } }).authenticate())).error.code);
test('connect: unknown database', async (scope) => (await refused(open(scope, { database: 'no_such_database' }).authenticate())).error.code);
on('deadlock is told', async (db) => {
  const P = await people(db, 'dead_people');
  const cross = async (first, second, met) => db.transaction(async (transaction) => {
    await P.update({ age: 1 }, { where: { id: first }, transaction });
    await met();
    await P.update({ age: 2 }, { where: { id: second }, transaction });
  });
  let n = 0;
  let open2;
  const both = new Promise((r) => (open2 = r));
  const met = () => (++n === 2 ? open2() : both);
  const r = await Promise.allSettled([cross(1, 2, met), cross(2, 1, met)]);
  return r.map((x) => (x.reason ? x.reason.parent.code : 'done')).sort();
});
go();
