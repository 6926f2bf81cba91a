'use strict';
const net = require('net');
const { test, skip, refused, tls, engine } = require('harness');
const { mysql, promise, endpoint, open, done, rows } = require('../client');

// unhosted is an error without the client's address as the server sees it.
const unhosted = (e) => JSON.parse(JSON.stringify(e).replace(/@'[^']*'/g, "@'host'"));

test('connect: event', async (scope) => {
  const c = open(scope);
  const how = await new Promise((resolve, reject) => c.on('connect', resolve).on('error', reject));
  return { protocol: how.protocolVersion, thread: typeof how.connectionId, status: how.statusFlags };
});

test('connect: thread ID is CONNECTION_ID()', async (scope) => {
  const c = open(scope);
  const [{ id }] = await rows(c, 'SELECT CONNECTION_ID() AS id');
  return id === c.threadId;
});

test('connect: without a database', async (scope) => {
  return rows(open(scope, { database: undefined }), 'SELECT DATABASE() AS d');
});

test('connect: by URI', async (scope) => {
  const { user, password, host, port, database } = endpoint;
  const c = mysql.createConnection(`mysql://${user}:${password}@${host}:${port}/${database}?dateStrings=true&rowsAsArray=true`);
  scope.defer(() => c.destroy());
  return rows(c, "SELECT DATE '2024-02-29', DATABASE()");
});

test('connect: over a stream of the application', async (scope) => {
  return rows(open(scope, { stream: () => net.connect(endpoint.port, endpoint.host) }), 'SELECT 1 AS one');
});

test('connect: wrong password', async (scope) => {
  const c = open(scope, { password: 'wrong' });
  return unhosted(await refused(done((f) => c.connect(f))));
});

test('connect: unknown user', async (scope) => {
  const c = open(scope, { user: 'nobody_at_all' });
  return unhosted(await refused(done((f) => c.connect(f))));
});

test('connect: unknown database', async (scope) => {
  const c = open(scope, { database: 'no_such_database' });
  return unhosted(await refused(done((f) => c.connect(f))));
});

test('connect: TLS', async (scope) => {
  if (!tls) skip('no TLS at this end');
  const c = open(scope, { ssl: { rejectUnauthorized: false } });
  await done((f) => c.connect(f));
  return { encrypted: c.stream.encrypted === true, rows: await rows(c, 'SELECT REPEAT("x", 20000) AS long_text') };
});

test('connect: TLS, certificate not trusted', async (scope) => {
  if (!tls) skip('no TLS at this end');
  const e = await refused(done((f) => open(scope, { ssl: {} }).connect(f)));
  return e.error.code;
});

test('connect: TLS, status of the connection', async (scope) => {
  if (!tls) skip('no TLS at this end');
  const c = open(scope, { ssl: { rejectUnauthorized: false } });
  const [{ Value }] = await rows(c, "SHOW STATUS LIKE 'Ssl_cipher'");
  return Value !== '';
});

test('connect: compressed', async (scope) => {
  const c = open(scope, { compress: true });
  return [await rows(c, "SELECT REPEAT('abc', 100000) AS long_text"), await rows(c, 'SELECT ? AS back', ['x'.repeat(100000)]), await rows(c, 'SELECT 1')];
});

test('connect: compressed over TLS', async (scope) => {
  if (!tls) skip('no TLS at this end');
  const c = open(scope, { compress: true, ssl: { rejectUnauthorized: false } });
  return [await rows(c, "SELECT REPEAT('abc', 100000) AS long_text"), await rows(c, 'SELECT 1')];
});

for (const charset of ['utf8mb4_unicode_ci', 'utf8mb4_general_ci', 'latin1_swedish_ci', 'utf8_general_ci', 'utf8mb4_bin', 'ascii_general_ci']) {
  test(`connect: charset ${charset}`, async (scope) => {
    const c = open(scope, { charset });
    return [
      await rows(c, 'SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection'),
      await rows(c, "SELECT 'plain' AS a, HEX('é') AS b, 'é' AS c, COLLATION('x') AS d"),
    ];
  });
}

test('connect: attributes', async (scope) => {
  const c = open(scope, { connectAttributes: { program_name: 'suite', empty: '', long: 'x'.repeat(1000) } });
  return rows(c, 'SELECT 1 AS one');
});

test('connect: attributes are seen', async (scope) => {
  const c = open(scope, { connectAttributes: { program_name: 'suite' } });
  const seen = await rows(c, "SELECT ATTR_VALUE AS v FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = CONNECTION_ID() AND ATTR_NAME = 'program_name'");
  return engine === 'mysql' ? seen : 'performance_schema is off';
});

test('connect: changed rows instead of found ones', async (scope) => {
  const out = {};
  for (const flags of [[], ['-FOUND_ROWS']]) {
    const c = open(scope, { flags });
    await rows(c, 'CREATE TEMPORARY TABLE found (id INT PRIMARY KEY, v INT)');
    await rows(c, 'INSERT INTO found VALUES (1, 1), (2, 2), (3, 3)');
    out[flags.join() || 'found'] = await rows(c, 'UPDATE found SET v = 2');
  }
  return out;
});

test('connect: ping', async (scope) => done((f) => open(scope).ping(f)));

test('connect: end, then a statement', async (scope) => {
  const c = open(scope);
  await rows(c, 'SELECT 1');
  await done((f) => c.end(f));
  return refused(rows(c, 'SELECT 1'));
});

test('connect: destroy in the middle of a statement', async (scope) => {
  const c = open(scope);
  rows(c, 'SELECT SLEEP(0.2)').catch(() => {}); // whether it is told of its end depends on when that is
  await rows(open(scope), 'SELECT 1');
  c.destroy();
  return rows(open(scope), 'SELECT 2 AS two');
});

test('connect: statements queued before the connection is there', async (scope) => {
  const c = open(scope);
  return Promise.all(Array.from({ length: 50 }, (_, i) => rows(c, 'SELECT ? AS i', [i])));
});

test('change user: the same, session state is gone', async (scope) => {
  const c = open(scope);
  await rows(c, "SET @a = 1, time_zone = '+05:00', sql_mode = 'ANSI_QUOTES'");
  await rows(c, 'CREATE TEMPORARY TABLE gone (id INT)');
  await done((f) => c.changeUser({ user: endpoint.user, password: endpoint.password, database: endpoint.database }, f));
  return [await rows(c, 'SELECT @a, @@time_zone, DATABASE()'), await refused(rows(c, 'SELECT * FROM gone'))];
});

test('change user: another database', async (scope) => {
  const c = open(scope);
  await done((f) => c.changeUser({ database: 'information_schema' }, f));
  return rows(c, 'SELECT DATABASE() AS d');
});

test('change user: wrong password', async (scope) => {
  const c = open(scope);
  const e = await refused(done((f) => c.changeUser({ user: endpoint.user, password: 'wrong' }, f)));
  return unhosted(e);
});

test('change user: another account', async (scope) => {
  const root = open(scope);
  await rows(root, "CREATE USER suite_other IDENTIFIED BY 'other'");
  scope.defer(() => rows(open({ defer() {} }), 'DROP USER suite_other'));
  await rows(root, `GRANT ALL ON ${endpoint.database}.* TO suite_other`);
  const c = open(scope);
  await done((f) => c.changeUser({ user: 'suite_other', password: 'other', database: endpoint.database }, f));
  return rows(c, 'SELECT SUBSTRING_INDEX(CURRENT_USER(), "@", 1) AS u');
});

test('reset: session state is gone', async (scope) => {
  const c = open(scope);
  await rows(c, "SET @a = 1, time_zone = '+05:00', SESSION group_concat_max_len = 77");
  await rows(c, 'CREATE TEMPORARY TABLE gone (id INT)');
  await rows(c, 'START TRANSACTION');
  await done((f) => c.reset(f));
  return [await rows(c, 'SELECT @a, @@time_zone, @@group_concat_max_len, DATABASE()'), await refused(rows(c, 'SELECT * FROM gone'))];
});

test('reset: prepared statements are gone and made anew', async (scope) => {
  const c = open(scope);
  const run = () => done((f) => c.execute('SELECT ? AS v', [7], f)).then(([r]) => r);
  const before = await run();
  await done((f) => c.reset(f));
  return [before, await run()];
});

test('who: the account', async (scope) => {
  return rows(open(scope), "SELECT SUBSTRING_INDEX(USER(), '@', 1) AS u, CURRENT_USER() AS c, SESSION_USER() = USER() AS s");
});

test('promise: connect and end', async () => {
  const c = await promise.createConnection(endpoint);
  const [found] = await c.query('SELECT 1 AS one');
  await c.end();
  return found;
});

test('promise: wrong password', async () => unhosted(await refused(promise.createConnection({ ...endpoint, password: 'wrong' }))));

test('promise: ping, reset and change user', async (scope) => {
  const c = await promise.createConnection(endpoint);
  scope.defer(() => c.destroy());
  await c.ping();
  await c.query('SET @a = 5');
  const [before] = await c.query('SELECT @a AS a');
  await c.reset();
  const [after] = await c.query('SELECT @a AS a');
  await c.changeUser({ database: 'information_schema' });
  const [database] = await c.query('SELECT DATABASE() AS d');
  return { before, after, database };
});

test('promise: connect to a wrong port', async () => {
  const free = await new Promise((resolve) => {
    const s = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });
  const e = await refused(promise.createConnection({ ...endpoint, port: free }));
  return e.error.code;
});
