'use strict';
const { Readable, Writable, Transform } = require('stream');
const { pipeline } = require('stream/promises');
const { test, refused } = require('harness');
const { open, done, rows } = require('../client');

const many = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT a.i * 1000 + b.i AS v, REPEAT("p", 50) AS pad FROM n a, n b WHERE a.i <= 20';

test('stream: rows one by one', async (scope) => {
  let count = 0;
  let sum = 0;
  for await (const row of open(scope).query(many).stream()) {
    count++;
    sum += row.v;
  }
  return [count, sum];
});
test('stream: slow reader', async (scope) => {
  let count = 0;
  const slow = new Writable({ objectMode: true, highWaterMark: 1, write: (_, __, next) => (++count % 1000 ? next() : setTimeout(next, 2)) });
  await pipeline(open(scope).query(many).stream({ highWaterMark: 5 }), slow);
  return count;
});
test('stream: pipeline with a transform', async (scope) => {
  let sum = 0;
  await pipeline(
    open(scope).query('SELECT 1 AS v UNION ALL SELECT 2 UNION ALL SELECT 3').stream(),
    new Transform({ objectMode: true, transform: (row, _, next) => next(null, row.v * 2) }),
    new Writable({ objectMode: true, write: (v, _, next) => next(null, (sum += v)) }),
  );
  return sum;
});
test('stream: paused connection', async (scope) => {
  const c = open(scope);
  let count = 0;
  await new Promise((resolve, reject) => {
    c.query(many)
      .on('result', () => {
        if (++count % 5000 === 0) {
          c.pause();
          setTimeout(() => c.resume(), 5);
        }
      })
      .on('error', reject)
      .on('end', resolve);
  });
  return count;
});
test('stream: left in the middle', async (scope) => {
  const c = open(scope);
  for await (const row of c.query(many).stream()) if (row.v > 2000) break;
  c.destroy();
  return rows(open(scope), 'SELECT 1 AS next');
});
test('stream: an error', async (scope) => {
  return refused((async () => {
    for await (const row of open(scope).query('SELECT * FROM no_such_table').stream()) throw new Error(row);
  })());
});
test('stream: statements behind it', async (scope) => {
  const c = open(scope);
  let count = 0;
  const first = new Promise((resolve, reject) => c.query(many).on('result', () => count++).on('error', reject).on('end', () => resolve(count)));
  return Promise.all([first, rows(c, 'SELECT 1 AS behind'), rows(c, 'SELECT 2 AS behind')]);
});

const load = async (scope, name, sql, content, options = {}) => {
  const c = open(scope, options);
  await rows(c, `CREATE TABLE ${name} (id INT PRIMARY KEY, v VARCHAR(20))`);
  const header = await done((f) => c.query({ sql: sql.replace('{t}', name), infileStreamFactory: () => (typeof content === 'function' ? content() : Readable.from(content ? [Buffer.from(content)] : [])) }, f));
  return [header, await rows(c, 'SHOW WARNINGS'), await rows(c, `SELECT COUNT(*) AS n, MAX(v) AS v, SUM(id) AS s FROM ${name}`)];
};
test('load: lines', async (scope) => load(scope, 'load_lines', "LOAD DATA LOCAL INFILE 'x' INTO TABLE {t}", '1\ta\n2\tb\n3\tc\n'));
test('load: CSV with options', async (scope) => load(scope, 'load_csv', `LOAD DATA LOCAL INFILE 'x' INTO TABLE {t} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' ENCLOSED BY '"' IGNORE 1 LINES (id, @v) SET v = UPPER(@v)`, 'id,v\n1,"a,b"\n2,"ü"\n'));
test('load: nothing', async (scope) => load(scope, 'load_nothing', "LOAD DATA LOCAL INFILE 'x' INTO TABLE {t}", ''));
test('load: warnings', async (scope) => load(scope, 'load_warnings', "LOAD DATA LOCAL INFILE 'x' INTO TABLE {t}", '1\ta\nx\tb\n1\tagain\n2\tb\textra\n'));
test('load: 100,000 lines in pieces', async (scope) =>
  load(scope, 'load_many', "LOAD DATA LOCAL INFILE 'x' INTO TABLE {t}", () => Readable.from((function* () {
    for (let i = 0; i < 100; i++) yield Buffer.from(Array.from({ length: 1000 }, (_, k) => `${i * 1000 + k}\tv${k}\n`).join(''));
  })())));
test('load: compressed', async (scope) => load(scope, 'load_compressed', "LOAD DATA LOCAL INFILE 'x' INTO TABLE {t}", Array.from({ length: 5000 }, (_, k) => `${k}\tv${k}\n`).join(''), { compress: true }));
test('load: REPLACE', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE load_replace (id INT PRIMARY KEY, v VARCHAR(20))');
  await rows(c, "INSERT INTO load_replace VALUES (1, 'old')");
  const header = await done((f) => c.query({ sql: "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE load_replace", infileStreamFactory: () => Readable.from([Buffer.from('1\tnew\n2\tb\n')]) }, f));
  return [header, await rows(c, 'SELECT * FROM load_replace')];
});
test('load: unknown table', async (scope) => {
  const c = open(scope);
  const e = await refused(done((f) => c.query({ sql: "LOAD DATA LOCAL INFILE 'x' INTO TABLE no_such_table", infileStreamFactory: () => Readable.from([Buffer.from('1\n')]) }, f)));
  return [e, await rows(c, 'SELECT 1 AS after')];
});
test('load: in a transaction', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE load_tx (id INT PRIMARY KEY)');
  await rows(c, 'BEGIN');
  await done((f) => c.query({ sql: "LOAD DATA LOCAL INFILE 'x' INTO TABLE load_tx", infileStreamFactory: () => Readable.from([Buffer.from('1\n2\n')]) }, f));
  const inside = await rows(c, 'SELECT COUNT(*) AS n FROM load_tx');
  await rows(c, 'ROLLBACK');
  return [inside, await rows(c, 'SELECT COUNT(*) AS n FROM load_tx')];
});
