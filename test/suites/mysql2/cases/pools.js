'use strict';
const { test, refused } = require('harness');
const { mysql, promise, endpoint, done, rows } = require('../client');

const pool = (scope, options) => {
  const p = mysql.createPool({ ...endpoint, connectionLimit: 4, ...options });
  scope.defer(() => done((f) => p.end(f)));
  return p;
};
const ask = (p, sql, params, how = 'query') => done((f) => p[how](sql, params, f)).then(([r]) => r);

test('pool: query and execute', async (scope) => {
  const p = pool(scope);
  return [await ask(p, 'SELECT ? AS a', [1]), await ask(p, 'SELECT ? AS b', ['x'], 'execute')];
});
test('pool: 100 at once over 4', async (scope) => {
  const p = pool(scope);
  return Promise.all(Array.from({ length: 100 }, (_, i) => ask(p, 'SELECT ? AS i', [i], i % 2 ? 'query' : 'execute')));
});
test('pool: connections and events', async (scope) => {
  const p = pool(scope, { connectionLimit: 1 });
  const log = [];
  for (const event of ['acquire', 'connection', 'enqueue', 'release']) p.on(event, () => log.push(event));
  const c = await done((f) => p.getConnection(f));
  const waiting = done((f) => p.getConnection(f));
  await rows(c, 'SET @kept = 5');
  c.release();
  const again = await waiting;
  const found = await rows(again, 'SELECT @kept AS v');
  again.release();
  return [log, found];
});
test('pool: queue limit', async (scope) => {
  const p = pool(scope, { connectionLimit: 1, queueLimit: 1 });
  const c = await done((f) => p.getConnection(f));
  const queued = done((f) => p.getConnection(f));
  const e = await refused(done((f) => p.getConnection(f)));
  c.release();
  (await queued).release();
  return e;
});
test('pool: no waiting', async (scope) => {
  const p = pool(scope, { connectionLimit: 1, waitForConnections: false });
  const c = await done((f) => p.getConnection(f));
  const e = await refused(done((f) => p.getConnection(f)));
  c.release();
  return e;
});
test('pool: destroyed connection is replaced', async (scope) => {
  const p = pool(scope, { connectionLimit: 1 });
  const c = await done((f) => p.getConnection(f));
  const id = c.threadId;
  c.destroy();
  const next = await done((f) => p.getConnection(f));
  const other = next.threadId !== id;
  next.release();
  return [other, await ask(p, 'SELECT 1 AS one')];
});
test('pool: an error releases', async (scope) => {
  const p = pool(scope, { connectionLimit: 1 });
  const out = [];
  for (let i = 0; i < 5; i++) out.push((await refused(ask(p, 'SELECT * FROM no_such_table'))).error.code, await ask(p, 'SELECT 1 AS one'));
  return out;
});
test('pool: transactions on several connections', async (scope) => {
  const p = pool(scope);
  await ask(p, 'CREATE TABLE pool_tx (id INT PRIMARY KEY, v INT)');
  await ask(p, 'INSERT INTO pool_tx VALUES (1, 0)');
  await Promise.all(Array.from({ length: 20 }, async () => {
    const c = await done((f) => p.getConnection(f));
    await done((f) => c.beginTransaction(f));
    const [{ v }] = await rows(c, 'SELECT v FROM pool_tx WHERE id = 1 FOR UPDATE');
    await rows(c, 'UPDATE pool_tx SET v = ?', [v + 1]);
    await done((f) => c.commit(f));
    c.release();
  }));
  return ask(p, 'SELECT * FROM pool_tx');
});
test('pool: connections are reset on release', async (scope) => {
  const p = pool(scope, { connectionLimit: 1, resetOnRelease: true });
  const c = await done((f) => p.getConnection(f));
  await rows(c, "SET @left = 1, time_zone = '+04:00'");
  c.release();
  return ask(p, 'SELECT @left AS v, @@time_zone AS z');
});
test('pool: idle connections go', async (scope) => {
  const p = pool(scope, { connectionLimit: 3, maxIdle: 1, idleTimeout: 100 });
  await Promise.all([1, 2, 3].map((n) => ask(p, 'SELECT ? AS n', [n])));
  return ask(p, 'SELECT 4 AS n');
});
test('pool: promise', async (scope) => {
  const p = promise.createPool({ ...endpoint, connectionLimit: 2 });
  scope.defer(() => p.end());
  const [a] = await p.query('SELECT 1 AS a');
  const [b] = await p.execute('SELECT ? AS b', [2]);
  const c = await p.getConnection();
  const [d] = await c.query('SELECT 3 AS c');
  c.release();
  const e = await refused(p.query('SELECT * FROM no_such_table'));
  return [a, b, d, e, await Promise.all(Array.from({ length: 10 }, (_, i) => p.execute('SELECT ? * 2 AS v', [i]).then(([r]) => r)))];
});
test('pool: change of user on a connection', async (scope) => {
  const p = pool(scope, { connectionLimit: 1 });
  const c = await done((f) => p.getConnection(f));
  await done((f) => c.changeUser({ database: 'information_schema' }, f));
  const out = await rows(c, 'SELECT DATABASE() AS d');
  c.destroy();
  return [out, await ask(p, 'SELECT DATABASE() AS d')];
});
test('pool: cluster', async (scope) => {
  const cluster = mysql.createPoolCluster();
  scope.defer(() => done((f) => cluster.end(f)));
  cluster.add('A', endpoint);
  cluster.add('B', { ...endpoint, database: 'information_schema' });
  const from = async (pattern) => {
    const c = await done((f) => cluster.getConnection(pattern, 'ORDER', f));
    const found = await rows(c, 'SELECT DATABASE() AS d');
    c.release();
    return found;
  };
  return [await from('A'), await from('B'), await from('*')];
});
