package trust

import (
	"slices"
	"testing"
)

// orders is the statement that loads a file into the sharded table.
const orders = "LOAD DATA {file} INTO TABLE test_order"

const threeOrders = "1\t1.50\told\n7\t2.50\told\n12\t3.50\told\n"

// loadings are files whose texts, bytes and sessions may mean one thing to the proxy,
// and another to the server.
var loadings = []loading{
	// Session settings, which must not affect the proxy's own reads and writes of rows.
	{name: "sql_select_limit", before: []string{"SET sql_select_limit = 1"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "max_join_size", before: []string{"SET max_join_size = 1"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "sql_big_selects", before: []string{"SET sql_big_selects = 0, max_join_size = 1"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "results in latin1", before: []string{"SET character_set_results = latin1"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "results as they are", before: []string{"SET character_set_results = NULL"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "results in utf8mb3", before: []string{"SET character_set_results = utf8mb3"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\t🙂\n7\t1\t李雷\n"},
	{name: "connection in latin1", before: []string{"SET character_set_connection = latin1"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "connection in ascii", before: []string{"SET character_set_connection = ascii"}, text: "LOAD DATA {file} REPLACE INTO TABLE product (product_id, name, price)", file: "1\tzoë\t1\n77\t李雷\t1\n"},
	{name: "connection in ucs2", before: []string{"SET character_set_connection = ucs2"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "utf8mb3", before: []string{"SET NAMES utf8mb3"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\t🙂\n7\t1\t李雷\n"},
	{name: "ascii", before: []string{"SET NAMES ascii"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "binary", before: []string{"SET NAMES binary"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzoë\n7\t1\t李雷\n"},
	{name: "latin1", before: []string{"SET NAMES latin1"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzo\xeb\n"},
	{name: "latin1, single", before: []string{"SET NAMES latin1"}, text: "LOAD DATA {file} INTO TABLE plain CHARACTER SET latin1 FIELDS TERMINATED BY '\xe9' (id, note)", file: "70\xe9zo\xeb\n"},
	{name: "the database's", before: []string{"SET character_set_database = latin1"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tzo\xeb\n"},
	{name: "the database's, single", before: []string{"SET character_set_database = latin1"}, text: "LOAD DATA {file} INTO TABLE plain", file: "70\tzo\xeb\n"},
	{name: "from another database", before: []string{"USE information_schema"}, text: "LOAD DATA {file} INTO TABLE {schema}.test_order (buyer_uid, amount, status)", file: "1\t1\tzoë\n"},
	{name: "no backslashes", before: []string{"SET sql_mode = 'NO_BACKSLASH_ESCAPES'"}, text: orders + ` FIELDS TERMINATED BY '\' ESCAPED BY '' (buyer_uid, amount, status)`, file: `1\1\a'b` + "\n" + `7\1\"` + "\n"},
	{name: "ansi quotes", before: []string{"SET sql_mode = 'ANSI_QUOTES'"}, text: `LOAD DATA {file} INTO TABLE "test_order" FIELDS TERMINATED BY ',' ENCLOSED BY '"' ("buyer_uid", "amount", "status")`, file: "\"1\",\"1\",\"a\"\"b\"\n"},
	{name: "ansi quotes, a name for a string", before: []string{"SET sql_mode = 'ANSI_QUOTES'"}, text: orders + ` FIELDS TERMINATED BY "," (buyer_uid, amount, status)`, file: "1,1,a\n"},
	{name: "empty strings are NULL", on: "mariadb", before: []string{"SET sql_mode = 'EMPTY_STRING_IS_NULL'"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\t\n"},
	{name: "padded to the full length", on: "mariadb", before: []string{"SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\tx  \n"},
	{name: "read only", before: []string{"SET SESSION TRANSACTION READ ONLY"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "read only once", before: []string{"SET TRANSACTION READ ONLY"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "a primary key is required", on: "mysql", before: []string{"SET sql_require_primary_key = 1"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "an invisible primary key", on: "mysql", before: []string{"SET sql_generate_invisible_primary_key = 1"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "another engine", before: []string{"SET default_storage_engine = MyISAM, default_tmp_storage_engine = MEMORY"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders},
	{name: "a number to come", before: []string{"SET insert_id = 500, auto_increment_increment = 7"}, text: "LOAD DATA {file} INTO TABLE counted (note)", file: "a\nb\n", look: []string{"SELECT LAST_INSERT_ID()"}},
	{name: "rolled back", before: []string{"SET autocommit = 0"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders, look: []string{"ROLLBACK", "SELECT COUNT(*) FROM test_order"}},
	{name: "to a savepoint", before: []string{"BEGIN", "UPDATE test_order SET status = 'x' WHERE buyer_uid = 3", "SAVEPOINT a"}, text: orders + " (buyer_uid, amount, status)", file: threeOrders, look: []string{"ROLLBACK TO a", "COMMIT", "SELECT COUNT(*), MAX(status) FROM test_order"}},
	{name: "a temporary table of the session's own", before: []string{"CREATE TEMPORARY TABLE plain (a INT)"}, text: "LOAD DATA {file} INTO TABLE plain", file: "7\n", look: []string{"SELECT * FROM plain"}},

	// Terminators of fields and lines.
	{name: "ends in hexadecimal", text: orders + " FIELDS TERMINATED BY x'1f' LINES TERMINATED BY 0x1e (buyer_uid, amount, status)", file: "1\x1f1\x1fa\x1e7\x1f1\x1fb\x1e"},
	{name: "ends in bits", text: orders + " FIELDS TERMINATED BY b'00101100' LINES TERMINATED BY X'0A' (buyer_uid, amount, status)", file: "1,1,a\n"},
	{name: "ends of zero bytes", text: orders + ` FIELDS TERMINATED BY '\0' LINES TERMINATED BY '\0\0' (buyer_uid, amount, status)`, file: "1\x001\x00a\x00\x007\x001\x00b\x00\x00"},
	{name: "a zero byte in the text", text: orders + " FIELDS TERMINATED BY '\x00' (buyer_uid, amount, status)", file: "1\x001\x00a\n"},
	{name: "ends of bytes that are no letters", text: orders + " FIELDS TERMINATED BY '\xff' LINES TERMINATED BY '\xfe\n' (buyer_uid, amount, status)", file: "1\xff1\xffa\xfe\n7\xff1\xffb\xfe\n"},
	{name: "ends of letters", text: orders + " FIELDS TERMINATED BY 'ä' LINES TERMINATED BY '中' (buyer_uid, amount, status)", file: "1ä1äa中7ä1äb中"},
	{name: "ends that are SQL", text: orders + " FIELDS TERMINATED BY ') SET status = ' LINES TERMINATED BY '-- x' (buyer_uid, amount, status)", file: "1) SET status = 1) SET status = a-- x"},
	{name: "ends that are comments", text: orders + " FIELDS TERMINATED BY '/*' LINES TERMINATED BY '*/' (buyer_uid, amount, status)", file: "1/*1/*a*/7/*1/*b*/"},
	{name: "introduced ends", text: orders + " FIELDS TERMINATED BY _latin1',' (buyer_uid, amount, status)", file: "1,1,a\n"},
	{name: "a national end", text: orders + " FIELDS TERMINATED BY N',' (buyer_uid, amount, status)", file: "1,1,a\n"},
	{name: "ends side by side", text: orders + " FIELDS TERMINATED BY ',' ';' (buyer_uid, amount, status)", file: "1,;1,;a\n"},
	{name: "a quoted file", text: orders + " FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '''' ESCAPED BY '!' (buyer_uid, amount, status)", file: "1,1,'a!'b'\n7,1,'!N'\n"},
	{name: "no fields' ends", text: orders + " FIELDS TERMINATED BY '' ENCLOSED BY '' (buyer_uid, amount, status)", file: "1                   1             old             \n"},
	{name: "lines that start", text: orders + " FIELDS TERMINATED BY ',' LINES STARTING BY '#' TERMINATED BY ';' (buyer_uid, amount, status)", file: "junk#1,1,a;none;#7,1,b;"},
	{name: "lines left out", text: orders + " FIELDS TERMINATED BY ',' IGNORE /* x */ 1 /* y */ LINES (buyer_uid, amount, status)", file: "5,5,5\n1,1,a\n"},
	{name: "lines left out, in hexadecimal", text: orders + " FIELDS TERMINATED BY ',' IGNORE 0x1 LINES (buyer_uid, amount, status)", file: "5,5,5\n1,1,a\n"},
	{name: "lines in a word", text: orders + " FIELDS TERMINATED BY ',' ignore 1 rows (buyer_uid, amount, @ignore) SET status = CONCAT('IGNORE 1 LINES', @ignore)", file: "5,5,5\n1,1,a\n"},

	// Comments within.
	{name: "comments", text: "/* a */ LOAD/* b */DATA {file} /* c */ INTO # d\nTABLE -- e\n test_order/* f */(buyer_uid,/* g */amount, status) -- h", file: threeOrders},
	{name: "comments that run", text: "LOAD DATA {file} /*!40000 REPLACE */ INTO TABLE /*! product */ /*!99999 ' */ (product_id, name, price) -- '", file: "1\tnew\t1\n9\tnew\t1\n"},
	{name: "comments that are left out", text: "LOAD DATA {file} INTO TABLE plain /*!99999 FIELDS TERMINATED BY ' */ (id, note) -- '", file: "70\tx\n"},
	{name: "a comment in a string", text: orders + " FIELDS TERMINATED BY '/*!99999 ' (buyer_uid, amount, status)", file: "1/*!99999 1/*!99999 a\n"},
	{name: "a comment that hides the table", text: "LOAD DATA {file} INTO TABLE /*!99999 plain */ /*!40000 product */", file: "90\tx\t1\n"},
	{name: "an odd comment", text: "LOAD DATA {file} INTO TABLE plain --\x7f ' \n (id, note) --\x7f '", file: "70\tx\n"},

	// Character sets of the file, and invalid bytes.
	{name: "in latin1", text: orders + " CHARACTER SET latin1 (buyer_uid, amount, status)", file: "1\t1\tzo\xeb\n7\t1\t\x80\x81\xff\n"},
	{name: "in latin1, single", text: "LOAD DATA {file} INTO TABLE plain CHARACTER SET latin1", file: "70\tzo\xeb\n"},
	{name: "in latin1, in quotes", text: orders + " CHARACTER SET 'latin1' (buyer_uid, amount, status)", file: "1\t1\tzo\xeb\n"},
	{name: "in gbk", text: orders + " CHARACTER SET gbk (buyer_uid, amount, status)", file: "1\t1\t\xbf\\\t\n7\t1\t\xc4\xe3\n"},
	{name: "in sjis", text: orders + " CHARACTER SET sjis FIELDS TERMINATED BY ',' (buyer_uid, amount, status)", file: "1,1,\x95\\\n7,1,\x83\x5c\n"},
	{name: "in big5", text: orders + " CHARACTER SET big5 (buyer_uid, amount, status)", file: "1\t1\t\xa5\\\n"},
	{name: "in ucs2", text: orders + " CHARACTER SET ucs2 (buyer_uid, amount, status)", file: "\x001\x00\t\x001\x00\t\x00a\x00\n"},
	{name: "in utf16", text: orders + " CHARACTER SET utf16 (buyer_uid, amount, status)", file: "\x001\x00\t\x001\x00\t\x00a\x00\n"},
	{name: "in utf32", text: orders + " CHARACTER SET utf32 (buyer_uid, amount, status)", file: "\x00\x00\x001\x00\x00\x00\n"},
	{name: "in swe7", text: orders + " CHARACTER SET swe7 (buyer_uid, amount, status)", file: "1\t1\tx[y]\n"},
	{name: "in binary", text: orders + " CHARACTER SET binary (buyer_uid, amount, status)", file: "1\t1\tzo\xeb\n7\t1\tzoë\n"},
	{name: "in utf8mb3", text: orders + " CHARACTER SET utf8mb3 (buyer_uid, amount, status)", file: "1\t1\t🙂\n7\t1\tzoë\n"},
	{name: "in none", text: orders + " CHARACTER SET nosuch (buyer_uid, amount, status)", file: threeOrders},
	{name: "halves of letters", text: orders + " (buyer_uid, amount, status)", file: "1\t1\ta\xe4\n7\t1\t\xf0\x9f\x99\n12\t1\t\xff\xfe\n"},
	{name: "halves of letters, strict", before: []string{"SET sql_mode = 'STRICT_ALL_TABLES'"}, text: orders + " (buyer_uid, amount, status)", file: "1\t1\ta\xe4\n7\t1\t\xf0\x9f\x99\n12\t1\t\xff\xfe\n"},
	{name: "halves of letters, single", text: "LOAD DATA {file} INTO TABLE plain", file: "70\ta\xe4\n71\t\xff\n"},
	{name: "half a letter before a field's end", text: orders + " (buyer_uid, status, amount)", file: "1\ta\xe4\t5\n7\t\xf0\t6\n"},
	{name: "half a letter before a line's end", text: orders + " (buyer_uid, amount, status)", file: "1\t1\ta\xe4\n7\t1\tb\n"},
	{name: "zero bytes", text: orders + " (buyer_uid, amount, status)", file: "1\t1\ta\x00b\n7\t1\t\\0\n"},
	{name: "a zero byte in an owner", text: orders + " (buyer_uid, amount, status)", file: "1\x00\t1\ta\n"},
	{name: "a mark of byte order", text: orders + " (buyer_uid, amount, status)", file: "\xef\xbb\xbf1\t1\ta\n"},
	{name: "owners that are no numbers", text: orders + " (buyer_uid, amount, status)", file: " 7 \t1\ta\n0x7\t1\tb\n1e1\t1\tc\n7abc\t1\td\n\\N\t1\te\n\t1\tf\n+7\t1\tg\n7.5\t1\th\n"},
	{name: "lines too short, and too long", text: orders + " (buyer_uid, amount, status)", file: "1\n7\t1\n12\t1\ta\tb\n\n"},

	// Expressions in SET.
	{name: "SET assigns", text: orders + " (buyer_uid, amount, @s) SET status = (@z := CONCAT(@s, 'x'))", file: threeOrders, look: []string{"SELECT @z, @s"}},
	{name: "SET of a list's variables", text: orders + " (buyer_uid, @`a b`, @'c') SET amount = @`a b` * 2, status = @'c'", file: threeOrders, look: []string{"SELECT @`a b`, @'c', @c"}},
	{name: "SET changes the owner", text: orders + " (buyer_uid, amount, status) SET buyer_uid = buyer_uid + 1", file: threeOrders},
	{name: "SET of the owner alone", text: orders + " (@o, amount, status) SET buyer_uid = @o % 5", file: threeOrders},
	{name: "SET reads another table", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = (SELECT COUNT(*) FROM test_order)", file: "70\n"},
	{name: "SET reads another table, deep", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = IF(EXISTS (SELECT 1 FROM test_order WHERE buyer_uid = 12), 'yes', 'no')", file: "70\n"},
	{name: "SET reads a global table", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = (SELECT name FROM product WHERE product_id = 1)", file: "70\n"},
	{name: "SET reads the loaded table", text: orders + " (buyer_uid, amount) SET status = (SELECT COUNT(*) FROM test_order)", file: "1\t1\n"},
	{name: "SET calls what reads a sharded table", setup: nil, text: "LOAD DATA {file} INTO TABLE plain (id) SET note = reads_all()", file: "70\n"},
	{name: "SET calls what reads a sharded table, for another", text: orders + " (buyer_uid, amount) SET status = reads_all()", file: "1\t1\n"},
	{name: "SET of the last ID", text: orders + " (buyer_uid, amount) SET status = LAST_INSERT_ID(5)", file: "1\t1\n", look: []string{"SELECT LAST_INSERT_ID() = 5"}},
	{name: "SET of a lock", text: orders + " (buyer_uid, amount) SET status = GET_LOCK('{schema}', 0)", file: "1\t1\n", look: []string{"SELECT IS_USED_LOCK('{schema}') = CONNECTION_ID()", "SELECT RELEASE_LOCK('{schema}')"}},
	{name: "SET of a lock, single", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = GET_LOCK('{schema}', 0)", file: "70\n", look: []string{"SELECT IS_USED_LOCK('{schema}') = CONNECTION_ID()", "SELECT RELEASE_LOCK('{schema}')"}},
	{name: "SET of who it is", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = USER()", file: "70\n"},
	{name: "SET of who it is, sharded", text: orders + " (buyer_uid, amount) SET status = LEFT(CURRENT_USER(), 16)", file: "1\t1\n"},
	{name: "SET of who it is, without parentheses", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = CONCAT(CURRENT_USER, 'x')", file: "70\n"},
	{name: "SET of the connection", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = CONNECTION_ID() > 1000000", file: "70\n"},
	{name: "SET of a variable of the server's", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = @@version", file: "70\n"},
	{name: "SET of a variable of the session's", before: []string{"SET group_concat_max_len = 5000"}, text: orders + " (buyer_uid, amount) SET status = @@group_concat_max_len", file: "1\t1\n"},
	{name: "SET of the last ID, single", text: "LOAD DATA {file} INTO TABLE plain (id) SET note = LAST_INSERT_ID(id)", file: "70\n71\n", look: []string{"SELECT LAST_INSERT_ID()"}},
	{name: "SET of the last ID that was", before: []string{"INSERT INTO counted (id, note) VALUES (900, 'x')", "DO LAST_INSERT_ID(77)"}, text: "LOAD DATA {file} INTO TABLE plain (id) SET note = LAST_INSERT_ID()", file: "70\n", look: []string{"SELECT LAST_INSERT_ID()"}},
	{name: "a generated number", text: "LOAD DATA {file} INTO TABLE counted (note)", file: "a\nb\n", look: []string{"SELECT LAST_INSERT_ID() = (SELECT MAX(id) - 1 FROM counted)"}},
	{name: "a given number", text: "LOAD DATA {file} INTO TABLE counted", file: "800\tb\n", look: []string{"SELECT LAST_INSERT_ID()"}},
	{name: "SET of what differs between copies", text: "LOAD DATA {file} REPLACE INTO TABLE product (product_id, price) SET name = LENGTH(UUID())", file: "1\t1\n"},
	{name: "SET of DEFAULT", text: orders + " (buyer_uid, amount) SET status = DEFAULT", file: "1\t1\n"},
	{name: "SET of DEFAULT()", text: orders + " (buyer_uid, amount) SET status = CONCAT(DEFAULT(status), '!')", file: "1\t1\n"},
	{name: "SET with a quote in a comment", text: orders + " (buyer_uid, amount) SET status = 'a' /* ' */ 'b' -- '", file: "1\t1\n"},

	// Forms that few people write.
	{name: "LOW_PRIORITY", text: "LOAD DATA LOW_PRIORITY {file} INTO TABLE test_order (buyer_uid, amount, status)", file: threeOrders},
	{name: "CONCURRENT", text: "LOAD DATA CONCURRENT {file} IGNORE INTO TABLE test_order (buyer_uid, amount, status)", file: threeOrders},
	{name: "a partition", text: "LOAD DATA {file} INTO TABLE test_order PARTITION (p0) (buyer_uid, amount, status)", file: threeOrders},
	{name: "several in one text", text: "SELECT 1; " + orders + " (buyer_uid, amount, status); SELECT COUNT(*) FROM test_order", file: threeOrders},
	{name: "no words behind the table", text: "LOAD DATA {file} INTO TABLE plain; SELECT COUNT(*) FROM test_order", file: "70\tx\n"},
	{name: "XML", text: "LOAD XML {file} INTO TABLE test_order (buyer_uid, amount, status)", file: "<row buyer_uid='1' amount='1' status='x'/>"},
	{name: "XML, single", text: "LOAD XML {file} INTO TABLE plain ROWS IDENTIFIED BY '<row>' (id, note) SET note = (SELECT COUNT(*) FROM test_order)", file: "<row id='70' note='x'/>"},
	{name: "in bulk", on: "mysql", text: "LOAD DATA FROM {file} COUNT 1 IN PRIMARY KEY ORDER INTO TABLE plain PARALLEL = 1 ALGORITHM = BULK", file: "70\tx\n"},
	{name: "XML of the server's", refused: true, text: "LOAD XML INFILE '/etc/hostname' INTO TABLE plain"},
	{name: "a file of the server's, into a single table", refused: true, text: "LOAD DATA INFILE '/etc/hostname' INTO TABLE plain (note)"},
	{name: "a file of the server's, behind comments", refused: true, text: "/* LOCAL */ LOAD DATA /* LOCAL */ INFILE '/etc/hostname' /*!99999 LOCAL */ INTO TABLE plain (note)"},
	{name: "a file of the server's", text: "LOAD DATA INFILE '/etc/hostname' INTO TABLE test_order (status)", refused: true},
	{name: "a file of the server's, bounded", user: "database", refused: true, text: "LOAD DATA INFILE '/etc/hostname' INTO TABLE plain (note)"},
	{name: "another's table", user: "narrow", refused: true, text: "LOAD DATA {file} INTO TABLE secret", file: "7\tx\n"},
	{name: "another's table in SET", user: "narrow", refused: true, text: orders + " (buyer_uid, amount) SET status = (SELECT hidden FROM secret)", file: "1\t1\n"},
	{name: "the server's table in SET", user: "database", refused: true, text: "LOAD DATA {file} INTO TABLE plain (id) SET note = (SELECT user FROM mysql.user LIMIT 1)", file: "70\n"},
	{name: "a server's file in SET", user: "database", refused: true, text: "LOAD DATA {file} INTO TABLE plain (id) SET note = LOAD_FILE('/etc/hostname')", file: "70\n"},
	{name: "who only reads", user: "reader", refused: true, text: "LOAD DATA {file} INTO TABLE plain", file: "70\tx\n"},
	{name: "prepared", before: []string{"PREPARE p FROM 'LOAD DATA LOCAL INFILE ''x'' INTO TABLE plain'"}, text: "EXECUTE p", file: "70\tx\n"},
}

// elsewhere are INSERTs of rows that were read. The proxy writes them, too.
var elsewhere = []loading{
	{name: "query, sql_select_limit", before: []string{"SET sql_select_limit = 1"}, text: "INSERT INTO plain SELECT DISTINCT 1000 + buyer_uid, 'x' FROM test_order"},
	{name: "query, sql_select_limit, sharded", before: []string{"SET sql_select_limit = 1"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
	{name: "query, sql_select_limit, global", before: []string{"SET sql_select_limit = 1"}, text: "INSERT INTO product SELECT id + 100, note, 1 FROM plain"},
	{name: "query, ascii", before: []string{"INSERT INTO plain VALUES (70, 'zoë')", "SET NAMES ascii"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
	{name: "query, utf8mb3", before: []string{"INSERT INTO plain VALUES (70, 'zo🙂')", "SET NAMES utf8mb3"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
	{name: "query, utf8mb3, three bytes", before: []string{"INSERT INTO plain VALUES (70, '李雷')", "SET NAMES utf8mb3"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
	{name: "query, binary", before: []string{"INSERT INTO plain VALUES (70, 'zo🙂')", "SET NAMES binary"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
	{name: "query, max_join_size", before: []string{"SET max_join_size = 1"}, text: "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 1, note FROM plain"},
}

// A client's file is read by the proxy as by one server, or refused.
func TestLoadings(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, admin := range s.admins {
			admin.must(t, "SET GLOBAL local_infile = 1", "CREATE FUNCTION reads_all() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)")
		}
		s.noticed(t, []string{"reads_all"})
		defer func() {
			for _, admin := range s.admins {
				admin.must(t, "DROP FUNCTION reads_all")
			}
		}()
		for _, a := range slices.Concat(loadings, elsewhere) {
			if a.on != "" && a.on != string(s.engine) {
				continue
			}
			t.Run(a.name, func(t *testing.T) { s.load(t, &a) })
		}
	})
}
