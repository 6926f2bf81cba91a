'use strict';
const { test, refused } = require('harness');
const { open, prepared, rows, ask } = require('../client');

// each runs statements one after the other and gives all answers, errors too.
async function each(c, statements) {
  const out = [];
  for (const sql of statements) out.push([sql, await rows(c, sql).catch((e) => [e.code, e.sqlMessage])]);
  return out;
}
const sessions = {
  'user variables': ['SET @a = 1, @b = @a + 1, @c := "x"', 'SELECT @a, @b, @c, @none', 'SELECT @a := @a + 1 AS v', 'SELECT @a', 'SET @d = NULL', 'SELECT @d', 'SELECT 5, "t" INTO @e, @f', 'SELECT @e, @f', 'SET @big = 18446744073709551615, @dec = 1.50, @bin = x\'00ff\'', 'SELECT @big, @dec, HEX(@bin)'],
  'sql_mode': ["SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT'", `SELECT 'a' || 'b' AS "v"`, 'SELECT @@sql_mode', 'SET sql_mode = DEFAULT', 'SELECT "a" OR "b"', "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')", "SELECT '\\' AS v"],
  'time_zone': ["SET time_zone = '+02:00'", 'SELECT FROM_UNIXTIME(0), @@time_zone, @@session.time_zone', 'SET SESSION time_zone = SYSTEM', 'SELECT @@time_zone'],
  'names': ['SET NAMES latin1', 'SELECT @@character_set_client, @@character_set_results, @@collation_connection', "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SELECT COLLATION('a')", 'SET CHARACTER SET utf8mb4', 'SELECT @@collation_connection = @@collation_database', 'SET character_set_results = NULL', 'SELECT @@character_set_results'],
  'autocommit': ['SELECT @@autocommit', 'SET autocommit = 0', 'SELECT @@autocommit', 'CREATE TABLE session_auto (a INT)', 'INSERT INTO session_auto VALUES (1)', 'ROLLBACK', 'SELECT COUNT(*) AS n FROM session_auto', 'INSERT INTO session_auto VALUES (2)', 'SET autocommit = 1', 'ROLLBACK', 'SELECT COUNT(*) AS n FROM session_auto'],
  'limits': ['SET sql_select_limit = 1', 'SELECT 1 AS a UNION SELECT 2', 'SET sql_select_limit = DEFAULT', 'SELECT 1 AS a UNION SELECT 2', 'SET group_concat_max_len = 5', "SELECT GROUP_CONCAT('abc', 'def') AS v", 'SET SESSION max_execution_time = 0', 'SET sql_safe_updates = 1', 'CREATE TABLE session_safe (a INT)', 'DELETE FROM session_safe', 'SET sql_safe_updates = 0', 'DELETE FROM session_safe'],
  'scopes': ['SELECT @@global.autocommit, @@session.autocommit, @@autocommit', 'SET @@session.lock_wait_timeout = 5', 'SELECT @@lock_wait_timeout', "SHOW VARIABLES LIKE 'lock_wait_timeout'", "SHOW SESSION VARIABLES WHERE Variable_name = 'autocommit'", 'SET LOCAL lock_wait_timeout = DEFAULT', 'SELECT @@lock_wait_timeout = @@global.lock_wait_timeout'],
  'isolation': ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED', 'SELECT @@transaction_isolation', 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'START TRANSACTION', 'COMMIT', "SET SESSION transaction_isolation = 'REPEATABLE-READ'", 'SELECT @@transaction_isolation', 'SET SESSION TRANSACTION READ ONLY', 'CREATE TABLE session_ro (a INT)', 'SET SESSION TRANSACTION READ WRITE', 'CREATE TABLE session_ro (a INT)', 'START TRANSACTION READ ONLY', 'INSERT INTO session_ro VALUES (1)', 'ROLLBACK'],
  'temporary tables': ['CREATE TEMPORARY TABLE temporary_a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)', 'INSERT INTO temporary_a (v) VALUES (1), (2)', 'SELECT * FROM temporary_a', 'SELECT LAST_INSERT_ID()', 'CREATE TEMPORARY TABLE temporary_b SELECT * FROM temporary_a', 'SELECT COUNT(*) AS n FROM temporary_b', 'ALTER TABLE temporary_b ADD w INT', 'SHOW COLUMNS FROM temporary_b', 'DROP TEMPORARY TABLE temporary_a', 'SELECT * FROM temporary_a'],
  'locks': ["SELECT GET_LOCK('session_lock', 1) AS v", "SELECT IS_FREE_LOCK('session_lock') AS v", "SELECT IS_USED_LOCK('session_lock') = CONNECTION_ID() AS v", "SELECT RELEASE_LOCK('session_lock') AS v", "SELECT RELEASE_LOCK('session_lock') AS v", "SELECT IS_FREE_LOCK('session_lock') AS v", 'SELECT RELEASE_ALL_LOCKS() AS v'],
  'table locks': ['CREATE TABLE session_locked (a INT)', 'LOCK TABLES session_locked WRITE', 'INSERT INTO session_locked VALUES (1)', 'SELECT * FROM session_locked', 'SELECT * FROM no_such_table', 'UNLOCK TABLES', 'SELECT COUNT(*) AS n FROM session_locked', 'LOCK TABLES session_locked READ', 'INSERT INTO session_locked VALUES (2)', 'UNLOCK TABLES'],
  'last insert ID': ['CREATE TABLE session_ids (id INT AUTO_INCREMENT PRIMARY KEY, v INT)', 'SELECT LAST_INSERT_ID()', 'INSERT INTO session_ids (v) VALUES (1), (2), (3)', 'SELECT LAST_INSERT_ID()', 'SELECT LAST_INSERT_ID() AS id, @@identity AS i, @@last_insert_id AS l', 'INSERT INTO session_ids VALUES (50, 1)', 'SELECT LAST_INSERT_ID()', 'SELECT LAST_INSERT_ID(77)', 'SELECT LAST_INSERT_ID()', 'UPDATE session_ids SET v = LAST_INSERT_ID(v + 100) WHERE id = 50', 'SELECT LAST_INSERT_ID()', 'SET LAST_INSERT_ID = 9', 'SELECT LAST_INSERT_ID()', 'SET INSERT_ID = 60', 'INSERT INTO session_ids (v) VALUES (6)', 'SELECT MAX(id) FROM session_ids'],
  'row counts': ['CREATE TABLE session_rows (a INT)', 'INSERT INTO session_rows VALUES (1), (2), (3)', 'SELECT ROW_COUNT()', 'UPDATE session_rows SET a = 5 WHERE a > 1', 'SELECT ROW_COUNT() AS n', 'SELECT SQL_CALC_FOUND_ROWS * FROM session_rows ORDER BY a LIMIT 1', 'SELECT FOUND_ROWS()', 'SELECT * FROM session_rows', 'SELECT FOUND_ROWS() AS n', 'DO 1', 'SELECT ROW_COUNT()'],
  'prepared in text': ["PREPARE s FROM 'SELECT ? + ? AS v'", 'SET @a = 1, @b = 2', 'EXECUTE s USING @a, @b', 'EXECUTE s USING @b, @b', 'EXECUTE s', 'DEALLOCATE PREPARE s', 'EXECUTE s USING @a, @b', "PREPARE t FROM 'SELEC'", "SET @q = 'SELECT 5 AS v'", 'PREPARE u FROM @q', 'EXECUTE u', 'DROP PREPARE u'],
  'use': ['SELECT DATABASE()', 'USE information_schema', 'SELECT DATABASE(), SCHEMA()', 'SELECT COUNT(*) > 0 AS v FROM schemata', 'USE suite', 'SELECT DATABASE()'],
  'handler': ['CREATE TABLE session_handler (id INT PRIMARY KEY)', 'INSERT INTO session_handler VALUES (1), (2), (3)', 'HANDLER session_handler OPEN', 'HANDLER session_handler READ FIRST', 'HANDLER session_handler READ NEXT', 'HANDLER session_handler READ `PRIMARY` = (3)', 'HANDLER session_handler CLOSE'],
  'diagnostics': ['SELECT * FROM no_such_table', 'GET DIAGNOSTICS CONDITION 1 @p1 = RETURNED_SQLSTATE, @p2 = MESSAGE_TEXT', 'SELECT @p1, @p2', 'SELECT 1', 'SHOW ERRORS', 'SHOW WARNINGS', 'SELECT @@error_count, @@warning_count'],
  'savepoints': ['CREATE TABLE session_save (a INT)', 'BEGIN', 'INSERT INTO session_save VALUES (1)', 'SAVEPOINT one', 'INSERT INTO session_save VALUES (2)', 'SAVEPOINT two', 'INSERT INTO session_save VALUES (3)', 'ROLLBACK TO two', 'RELEASE SAVEPOINT one', 'ROLLBACK TO SAVEPOINT one', 'COMMIT', 'SELECT * FROM session_save'],
  'chains': ['CREATE TABLE session_chain (a INT)', 'BEGIN', 'INSERT INTO session_chain VALUES (1)', 'COMMIT AND CHAIN', 'INSERT INTO session_chain VALUES (2)', 'ROLLBACK AND NO CHAIN', 'SELECT * FROM session_chain', 'SET completion_type = 0', 'START TRANSACTION WITH CONSISTENT SNAPSHOT', 'SELECT * FROM session_chain', 'COMMIT'],
  'implicit commit': ['CREATE TABLE session_implicit (a INT)', 'BEGIN', 'INSERT INTO session_implicit VALUES (1)', 'CREATE TABLE session_implicit_2 (a INT)', 'ROLLBACK', 'SELECT * FROM session_implicit', 'BEGIN', 'INSERT INTO session_implicit VALUES (2)', 'BEGIN', 'ROLLBACK', 'SELECT * FROM session_implicit'],
  'foreign key checks': ['CREATE TABLE session_parent (id INT PRIMARY KEY)', 'CREATE TABLE session_child (id INT, CONSTRAINT session_fk FOREIGN KEY (id) REFERENCES session_parent (id))', 'SET foreign_key_checks = 0', 'INSERT INTO session_child VALUES (7)', 'SET foreign_key_checks = 1', 'INSERT INTO session_child VALUES (8)', 'SET unique_checks = 0', 'SELECT @@unique_checks, @@foreign_key_checks', 'SET unique_checks = DEFAULT'],
};
for (const [name, statements] of Object.entries(sessions)) {
  test(`session: ${name}`, async (scope) => each(open(scope), statements));
}
test('session: two do not see each other', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await rows(a, "SET @x = 1, time_zone = '+09:00', sql_mode = ''");
  await rows(a, 'CREATE TEMPORARY TABLE apart (v INT)');
  const held = await rows(a, "SELECT GET_LOCK('apart', 0) AS v");
  return [held, await rows(b, 'SELECT @x, @@time_zone'), await refused(rows(b, 'SELECT * FROM apart')), await rows(b, "SELECT GET_LOCK('apart', 0) AS v"), await rows(a, 'SELECT * FROM apart')];
});
test('session: a lock ends with its connection', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await rows(a, "SELECT GET_LOCK('ends', 0)");
  a.destroy();
  return rows(b, "SELECT GET_LOCK('ends', 10) AS v");
});
test('session: a transaction ends with its connection', async (scope) => {
  const [a, b] = [open(scope), open(scope)];
  await rows(a, 'CREATE TABLE session_ends (a INT)');
  await rows(a, 'BEGIN');
  await rows(a, 'INSERT INTO session_ends VALUES (1)');
  a.destroy();
  // Waits for the lock of the row, until the transaction is gone.
  return [await rows(b, 'DELETE FROM session_ends'), await rows(b, 'SELECT COUNT(*) AS n FROM session_ends')];
});
test('session: prepared statements see its settings', async (scope) => {
  const c = open(scope);
  await rows(c, "SET @v = 7, time_zone = '+06:00'");
  const first = await prepared(c, 'SELECT @v AS v, @@time_zone AS z, ? AS p', [1]);
  await rows(c, "SET @v = 8, time_zone = '+07:00'");
  return [first, await prepared(c, 'SELECT @v AS v, @@time_zone AS z, ? AS p', [1])];
});
test('session: status bits of headers', async (scope) => {
  const c = open(scope);
  await rows(c, 'CREATE TABLE session_status (a INT)');
  const out = [];
  for (const sql of ['DO 1', 'SET autocommit = 0', 'INSERT INTO session_status VALUES (1)', 'COMMIT', 'SET autocommit = 1', 'BEGIN', 'DO 1', 'ROLLBACK', 'START TRANSACTION READ ONLY', 'COMMIT']) {
    out.push([sql, (await rows(c, sql)).serverStatus]);
  }
  return out;
});
test('session: columns of variables', async (scope) => ask(open(scope), 'SELECT @@version_comment, @@autocommit, @@sql_mode, @@max_allowed_packet, @@time_zone, @@character_set_client, @@auto_increment_increment, @@lower_case_table_names LIMIT 1'));
