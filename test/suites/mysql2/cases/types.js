'use strict';
const { test, engine } = require('harness');
const { open, ask, prepared, rows } = require('../client');

// Each type: its declaration, and values as SQL.
const types = {
  integers: ['TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT UNSIGNED, e BIGINT, f BIGINT UNSIGNED, g INT(5) ZEROFILL', [
    '-128, 0, -8388608, 0, -9223372036854775808, 0, 0', '127, 65535, 8388607, 4294967295, 9223372036854775807, 18446744073709551615, 42', 'NULL, NULL, NULL, NULL, NULL, NULL, NULL']],
  floats: ['FLOAT, b DOUBLE, c FLOAT(7,3), d DOUBLE UNSIGNED', ['1.5, 1.1, 1.234, 0', '-3.4e38, 1.7976931348623157e308, -9999.999, 1e-300', '0, -0.0, 1e-3, 123456789012345680']],
  decimals: ['DECIMAL(65,30), b DECIMAL(5,2), c DECIMAL(10,0) UNSIGNED', ['12345678901234567890123456789012345.123456789012345678901234567890, 1.5, 10', '-0.000000000000000000000000000001, -999.99, 0']],
  booleans: ['BOOL, b BIT(1), c BIT(8), d BIT(64)', ["TRUE, b'1', b'10101010', 0xffffffffffffffff", "FALSE, b'0', 0, 1"]],
  dates: ['DATE, b DATETIME, c DATETIME(3), d DATETIME(6), e YEAR', [
    "'2024-02-29', '2024-02-29 23:59:59', '2024-02-29 23:59:59.123', '2024-02-29 23:59:59.123456', 2024", "'1000-01-01', '9999-12-31 23:59:59', '1970-01-01 00:00:00.001', '2038-01-19 03:14:08.000001', 1901"]],
  times: ['TIME, b TIME(6), c TIME(1)', ["'-838:59:59', '-00:00:00.000001', '00:00:00.1'", "'838:59:59', '12:34:56.789012', '-12:00:00'", "'00:00:00', '00:00:00', NULL"]],
  timestamps: ['TIMESTAMP NULL, b TIMESTAMP(6) NULL', ["'2024-02-29 12:00:00', '2024-02-29 12:00:00.654321'", 'NULL, NULL']],
  strings: ['CHAR(5), b VARCHAR(100), c TINYTEXT, d TEXT, e MEDIUMTEXT, f LONGTEXT', ["'ab', 'ä😀', '', 'text', 'medium', 'long'", "'ab  ', ' x ', NULL, '\\0\\'\\\\', '\\n\\r\\t', REPEAT('l', 70000)"]],
  binaries: ['BINARY(5), b VARBINARY(100), c TINYBLOB, d BLOB, e MEDIUMBLOB, f LONGBLOB', ["'ab', x'00ff', '', x'80', x'fe', REPEAT(x'fd', 300)", 'NULL, NULL, NULL, NULL, NULL, NULL']],
  sets: ["ENUM('one', 'two', 'ü'), b SET('x', 'y', 'z')", ["'one', 'x,z'", "'ü', ''", 'NULL, NULL']],
  json: ['JSON', [`'{"b": [1, 2.5, "é", null, true], "a": {"n": 9007199254740993}}'`, "'[]'", `'"text"'`, "'null'", 'NULL']],
  geometries: ['GEOMETRY, b POINT', ["ST_GeomFromText('POLYGON((0 0, 0 1, 1 1, 0 0))'), ST_GeomFromText('POINT(1.5 -2)')", 'NULL, NULL']],
};
if (engine === 'mysql') types.vectors = ['VECTOR(3)', ["STRING_TO_VECTOR('[1, 2.5, -3]')", 'NULL']];

for (const [name, [declaration, values]] of Object.entries(types)) {
  const fill = async (scope, kind) => {
    const c = open(scope);
    const table = `type_${name}_${kind}`;
    await rows(c, `CREATE TABLE ${table} (id INT AUTO_INCREMENT PRIMARY KEY, a ${declaration})`);
    const n = (await rows(c, `SHOW COLUMNS FROM ${table}`)).length - 1;
    const columns = 'abcdefg'.slice(0, n).split('');
    for (const v of values) await rows(c, `INSERT INTO ${table} (${columns}) VALUES (${v})`);
    return { c, table, columns };
  };
  test(`types: ${name}, text`, async (scope) => {
    const { c, table } = await fill(scope, 'text');
    return ask(c, `SELECT * FROM ${table} ORDER BY id`);
  });
  test(`types: ${name}, prepared`, async (scope) => {
    const { c, table } = await fill(scope, 'prepared');
    return prepared(c, `SELECT * FROM ${table} WHERE id > ? ORDER BY id`, [0]);
  });
  test(`types: ${name}, there and back`, async (scope) => {
    const { c, table, columns } = await fill(scope, 'back');
    const precise = open(scope, { supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, jsonStrings: true });
    if (name === 'geometries' || name === 'vectors') precise.config.typeCast = (field) => field.buffer();
    const found = await ask(precise, { sql: `SELECT ${columns} FROM ${table} ORDER BY id`, rowsAsArray: true });
    for (const row of found.rows) await prepared(precise, `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')})`, row.map((v) => (v && v.toJSON && !Buffer.isBuffer(v) ? JSON.stringify(v) : v)));
    return ask(c, `SELECT * FROM ${table} ORDER BY id`);
  });
}

for (const timezone of ['local', 'Z', '+05:30', '-08:00']) {
  test(`types: dates in time zone ${timezone}`, async (scope) => {
    const c = open(scope, { timezone });
    await rows(c, "SET time_zone = '+01:00'");
    const sql = "SELECT TIMESTAMP '2024-07-01 12:00:00' AS a, FROM_UNIXTIME(0) AS b, CAST(? AS DATETIME(3)) AS c, DATE '2024-07-01' AS d";
    const at = new Date(Date.UTC(2024, 6, 1, 10, 0, 0, 500));
    return [await rows(c, sql, [at]), (await prepared(c, sql, [at])).rows];
  });
}
test('types: zero dates', async (scope) => {
  const c = open(scope, { dateStrings: true });
  await rows(c, "SET sql_mode = ''");
  await rows(c, 'CREATE TABLE zeros (a DATE, b DATETIME, c TIMESTAMP NULL)');
  await rows(c, "INSERT INTO zeros VALUES ('0000-00-00', '0000-00-00 00:00:00', 0)");
  return [await ask(c, 'SELECT * FROM zeros'), await prepared(c, 'SELECT * FROM zeros')];
});
test('types: columns of expressions', async (scope) => {
  const c = open(scope);
  const sql = "SELECT 1 + 1 AS a, 1.5 * 2 AS b, CONCAT('a', 1) AS c, NOW() > 1 AS d, COUNT(*) AS e, SUM(1) AS f, AVG(1) AS g, GROUP_CONCAT('x') AS h, MAX('m') AS i, CASE WHEN 1 THEN 'x' END AS j, NULL AS k, IF(1, 2, 3) AS l, x'41' AS m, CAST('1' AS UNSIGNED) AS n, UUID() <> '' AS o";
  return [await ask(c, sql), await prepared(c, sql)];
});
