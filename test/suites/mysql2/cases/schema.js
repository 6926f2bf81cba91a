'use strict';
const { test, engine } = require('harness');
const { open, ask, prepared, rows } = require('../client');

let made;
const make = (c) => (made ??= create(c));
const create = async (c) => {
  await rows(c, "CREATE TABLE schema_table (id INT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'the key', name VARCHAR(30) NOT NULL DEFAULT 'x', at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, v DECIMAL(10,2), e ENUM('a','b'), w INT AS (id + 1) STORED, PRIMARY KEY (id), UNIQUE KEY by_name (name), KEY both_of (v, e)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='a table'".replace('AS (id + 1)', 'AS (v + 1)'));
  await rows(c, 'CREATE TABLE schema_child (id INT PRIMARY KEY, parent INT UNSIGNED, CONSTRAINT child_of FOREIGN KEY (parent) REFERENCES schema_table (id) ON DELETE CASCADE)');
  await rows(c, 'CREATE VIEW schema_view AS SELECT id, name FROM schema_table');
};
const statements = {
  'SHOW TABLES': "SHOW TABLES LIKE 'schema\\_%'",
  'SHOW FULL TABLES': "SHOW FULL TABLES FROM suite WHERE Tables_in_suite LIKE 'schema%'",
  'SHOW COLUMNS': 'SHOW COLUMNS FROM schema_table',
  'SHOW FULL COLUMNS': 'SHOW FULL COLUMNS FROM `schema_table` FROM `suite`',
  'SHOW INDEX': 'SHOW INDEX FROM schema_table',
  'SHOW CREATE TABLE': 'SHOW CREATE TABLE schema_table',
  'SHOW CREATE TABLE, child': 'SHOW CREATE TABLE schema_child',
  'SHOW CREATE DATABASE': 'SHOW CREATE DATABASE suite',
  'SHOW CREATE VIEW': "SHOW FIELDS FROM schema_view",
  'SHOW DATABASES': "SHOW DATABASES LIKE 'suite'",
  'SHOW TABLE STATUS': "SELECT TABLE_NAME, ENGINE, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'schema%' ORDER BY 1",
  DESCRIBE: 'DESCRIBE schema_table',
  'DESCRIBE a column': 'DESC schema_table name',
  EXPLAIN: 'EXPLAIN SELECT * FROM schema_table WHERE id = 1',
  'SHOW VARIABLES': "SHOW VARIABLES LIKE 'character_set_c%'",
  'SHOW GLOBAL VARIABLES': "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_allowed_packet', 'lower_case_table_names')",
  'SHOW CHARACTER SET': "SHOW CHARACTER SET LIKE 'utf8mb4'",
  'SHOW COLLATION': "SHOW COLLATION LIKE 'utf8mb4_gen%'",
  'SHOW ENGINES': "SELECT ENGINE, SUPPORT FROM information_schema.engines WHERE ENGINE = 'InnoDB'",
  'SHOW TRIGGERS': 'SHOW TRIGGERS LIKE "schema%"',
  'SHOW PROCEDURE STATUS': "SHOW PROCEDURE STATUS WHERE Db = 'none'",
  'SHOW EVENTS': 'SHOW EVENTS',
  'information_schema.columns': "SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_KEY, EXTRA, CHARACTER_SET_NAME, COLUMN_COMMENT FROM information_schema.columns WHERE table_schema = 'suite' AND table_name = 'schema_table' ORDER BY ordinal_position",
  'information_schema.key_column_usage': "SELECT CONSTRAINT_NAME, TABLE_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.key_column_usage WHERE table_schema = DATABASE() AND table_name LIKE 'schema%' ORDER BY 1, 2, 3",
  'information_schema.referential_constraints': "SELECT CONSTRAINT_NAME, UPDATE_RULE, DELETE_RULE FROM information_schema.referential_constraints WHERE constraint_schema = 'suite'",
  'information_schema.statistics': "SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE FROM information_schema.statistics WHERE table_schema = 'suite' AND table_name = 'schema_table' ORDER BY 1, 2",
  'information_schema.schemata': "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.schemata WHERE SCHEMA_NAME = DATABASE()",
  'information_schema, joined': "SELECT t.TABLE_NAME, c.COLUMN_NAME FROM information_schema.tables t JOIN information_schema.columns c USING (TABLE_SCHEMA, TABLE_NAME) WHERE t.TABLE_SCHEMA = 'suite' AND t.TABLE_NAME = 'schema_child' ORDER BY 2",
  'CHECK TABLE': 'CHECK TABLE schema_table',
  'ANALYZE TABLE': 'ANALYZE TABLE schema_table',
  VERSION: 'SELECT VERSION() = @@version AS v, @@version_comment AS c',
  functions: "SELECT DATABASE(), SCHEMA(), BENCHMARK(1, 1) AS b, CHARSET('a') AS s, INET_ATON('127.0.0.1') AS i, SHA2('x', 256) AS m, JSON_OBJECT('a', 1) AS j, CONVERT_TZ('2024-01-01', '+00:00', '+01:00') AS z",
  windows: 'SELECT v, ROW_NUMBER() OVER (ORDER BY v DESC) AS n, SUM(v) OVER () AS s FROM (SELECT 1 AS v UNION SELECT 2 UNION SELECT 3) x ORDER BY v',
  'common table expressions': 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT SUM(i) AS s FROM n',
  'set operations': 'SELECT 1 AS v UNION ALL SELECT 2 EXCEPT SELECT 1',
};
for (const [name, sql] of Object.entries(statements)) {
  test(`schema: ${name}`, async (scope) => {
    const c = open(scope);
    await make(c);
    return ask(c, sql);
  });
}
for (const name of ['SHOW COLUMNS', 'information_schema.columns', 'DESCRIBE', 'SHOW CREATE TABLE', 'windows']) {
  test(`schema: ${name}, prepared`, async (scope) => {
    const c = open(scope);
    await make(c);
    return prepared(c, statements[name]);
  });
}
const changes = ['CREATE TABLE ddl_a (id INT PRIMARY KEY)', 'CREATE TABLE IF NOT EXISTS ddl_a (id INT)', 'CREATE TABLE ddl_b LIKE ddl_a', 'ALTER TABLE ddl_a ADD COLUMN v INT DEFAULT 1, ADD INDEX by_v (v)', 'ALTER TABLE ddl_a RENAME COLUMN v TO w', 'CREATE INDEX by_w ON ddl_a (w)', 'DROP INDEX by_w ON ddl_a', 'RENAME TABLE ddl_b TO ddl_c', 'ALTER TABLE ddl_c RENAME TO ddl_d', 'CREATE TABLE ddl_e SELECT 1 AS a, 2 AS b', 'SHOW TABLES LIKE "ddl%"', 'CREATE VIEW ddl_v AS SELECT * FROM ddl_e', 'SELECT * FROM ddl_v', 'CREATE OR REPLACE VIEW ddl_v AS SELECT a FROM ddl_e', 'SELECT * FROM ddl_v', 'DROP VIEW ddl_v', 'TRUNCATE TABLE ddl_e', 'SELECT COUNT(*) AS n FROM ddl_e', 'DROP TABLE ddl_a, ddl_d, ddl_e', 'SHOW TABLES LIKE "ddl%"', 'CREATE DATABASE ddl_database', 'CREATE TABLE ddl_database.t (a INT)', 'INSERT INTO ddl_database.t VALUES (1)', 'SELECT * FROM ddl_database.t', 'ALTER DATABASE ddl_database CHARACTER SET latin1', 'DROP DATABASE ddl_database', 'DROP DATABASE IF EXISTS ddl_database', 'SHOW WARNINGS'];
test('schema: definitions', async (scope) => {
  const c = open(scope);
  const out = [];
  for (const sql of changes) out.push([sql, await rows(c, sql).catch((e) => [e.code, e.sqlMessage])]);
  return out;
});
test('schema: the database is dropped and made anew', async (scope) => {
  const c = open(scope, { database: undefined });
  const out = [];
  for (const sql of ['CREATE DATABASE ddl_again', 'USE ddl_again', 'CREATE TABLE t (a INT)', 'DROP DATABASE ddl_again', 'SELECT DATABASE() AS d', 'CREATE DATABASE ddl_again', 'SHOW TABLES', 'USE ddl_again', 'CREATE TABLE t (a INT)', 'SHOW TABLES', 'DROP DATABASE ddl_again']) {
    out.push([sql, await rows(c, sql).catch((e) => [e.code, e.sqlMessage])]);
  }
  return out;
});
test('schema: accounts', async (scope) => {
  const c = open(scope);
  const out = [];
  for (const sql of ["CREATE USER suite_user IDENTIFIED BY 'secret'", 'GRANT SELECT ON suite.* TO suite_user', 'SHOW GRANTS FOR suite_user', 'REVOKE SELECT ON suite.* FROM suite_user', 'DROP USER suite_user', 'SHOW GRANTS FOR suite_user', 'FLUSH PRIVILEGES']) {
    out.push([sql, await rows(c, sql).then((r) => (sql.startsWith('SHOW') ? r.length : r)).catch((e) => [e.code, e.sqlMessage])]);
  }
  return [out, engine];
});
