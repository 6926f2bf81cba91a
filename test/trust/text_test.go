package trust

import (
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

// Texts that servers and a proxy's lexer may part in different ways.
func TestTexts(t *testing.T) {
	uncertain := []string{"1005"}
	stands(t, func(t *testing.T, s *stand) {
		s.try(t,
			attack{name: "a control character behind two minuses", refused: uncertain, say: []string{"SELECT 1 --\x7f ' \n , count(*) from test_order --\x7f '"}},
			attack{name: "another one", refused: uncertain, say: []string{"SELECT 1 --\x01 ' \n , count(*) from test_order --\x01 '"}},
			attack{name: "a blank of latin1", charset: "latin1", refused: uncertain, say: []string{"SELECT count(*) FROM\xa0test_order"}},
			attack{name: "a quote in a skipped comment, UPDATE", say: []string{"UPDATE /*!99999 ' */ test_order SET version=version -- '"}},
			attack{name: "a quote in a skipped comment, INSERT", say: []string{"INSERT /*!99999 ' */ INTO test_order(order_id,buyer_uid) VALUES (5,6) -- '"}, refused: []string{"1203"}},
			attack{name: "a control character of macroman", user: "narrow", charset: "macroman", refused: uncertain, say: []string{"SELECT 1 --\xe5\x80\x80 '\n, user, authentication_string FROM mysql.user -- '"}},
			attack{name: "a condition in a skipped comment", user: "careful", refused: []string{"1106"}, say: []string{"DELETE FROM plain /*!99999 WHERE id=1 */"}},

			attack{name: "a string behind a digit string", user: "narrow", refused: []string{"#1142"}, say: []string{`SELECT _binary x'41' , 'a'`, `SELECT _binary x'41''\' , ' FROM secret -- '`}},
			attack{name: "a string behind a name of one letter", mode: "ANSI_QUOTES", say: []string{`SELECT "y".x'41\' , ' FROM (SELECT 1 AS x) y -- '`}},
			attack{name: "an exponent without digits", refused: uncertain, say: []string{"SELECT COUNT(1.5e) FROM test_order"}},
			attack{name: "a table behind a number", refused: uncertain, say: []string{"SELECT 1.FROM test_order"}},
			attack{name: "a variable behind a keyword", say: []string{"UPDATE test_order SET status = 'x' WHERE@a IS NULL AND buyer_uid = 7", "SELECT@a IS NULL AS n FROM test_order WHERE@a IS NULL ORDER BY@a LIMIT 3"}},
			attack{name: "the name of a variable", say: []string{"SET @'a' = 1, @'b' = 2", "SELECT @'a' := 5 AS x", "SELECT @'b' := 6 AS x", "SELECT @a, @b", "SELECT @'a' AS x", "SELECT @'b' AS x"}},
			attack{name: "a dollar quote", refused: uncertain, say: []string{"SELECT $a$ ', COUNT(*) FROM test_order $a$ AS b -- '"}},
			attack{name: "NULL as \\N", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order WHERE \\N IS NULL"}},
			attack{name: "a bracket", refused: uncertain, say: []string{"SELECT [a'] FROM test_order -- ']"}},
			attack{name: "a hint that a quote leaves open", refused: uncertain, say: []string{"SELECT /*+ ' */ COUNT(*) FROM test_order -- ' */"}},
			attack{name: "an emoji as a table's name", refused: uncertain, say: []string{"SELECT * FROM `\U0001F600`"}},
			attack{name: "a name in latin1", charset: "latin1", refused: uncertain, say: []string{"SELECT 1 AS `\xe9`"}},
			attack{name: "half a letter", refused: uncertain, say: []string{"SELECT 1 AS a\xe5, 2"}},
			attack{name: "a zero byte in a comment", refused: uncertain, say: []string{"SELECT COUNT(*) /* \x00 */ FROM test_order"}},
			attack{name: "a comment behind two minus signs", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5--/**/2 OR 1 = 1"}},
			attack{name: "a hint behind two minus signs", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5--/*+ x */2 OR 1 = 1"}},
			attack{name: "a line's comment behind two minus signs", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5--#\n+2 OR 1 = 1"}},
			attack{name: "a table behind two minus signs", user: "narrow", refused: uncertain, say: []string{"SELECT 1--/**/1, hidden FROM secret"}},
			attack{name: "a condition behind two minus signs", refused: uncertain, say: []string{"UPDATE test_order SET amount = 5--/**/2 WHERE buyer_uid = 7"}},
			attack{name: "two minus signs before a word", say: []string{"SELECT 1 --INTO @x", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5--2"}},
			attack{name: "two minus signs before a semicolon", refused: uncertain, say: []string{"UPDATE plain SET note = 'x' --; WHERE id = 1"}},
			attack{name: "a zero byte behind a comment", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order -- \x00\n WHERE 0"}},

			attack{name: "comments that run", say: []string{
				"SELECT COUNT(*) AS n /*! FROM */ test_order", "SELECT COUNT(*) AS n FROM /*!40000 test_order */ /*!99999 WHERE 0 */",
				"SELECT 1 AS n /*!50700 , 2 AS m */ /*M! , 3 AS o */ /*!100100 , 4 AS p */ FROM plain WHERE id = 1",
				"/*!40101 SET @x = 1 */; /*!99999 SET @x = 2 */; SELECT @x", "/*!40000 */", "/*!99999 SELECT 1 */", "/*! */;",
				"SELECT 1 AS n /*!40000 , /* a */ 2 AS m /* b */ */ FROM plain WHERE id = 1",
				"SELECT 1 AS n /*!40000 , '*/' AS m */ FROM plain WHERE id = 1",
				"SELECT 1 AS n /*!99999 , /* a */ 2 */ FROM plain WHERE id = 1",
				"SELECT /*!99999 ' */ COUNT(*) AS n FROM test_order -- '",
				"INSERT INTO /*!40000 test_order */ (buyer_uid, amount) VALUES (7, 9)",
				"DELETE /*! FROM */ test_order WHERE buyer_uid /*!40000 = 7 */",
				"/*!50001 CREATE */ /*!99999 TEMPORARY */ TABLE made (a INT)", "SELECT * FROM made", "DROP TABLE /*!40000 IF EXISTS */ made",
			}, look: []string{"SELECT COUNT(*) FROM test_order"}},
			attack{name: "comments that run, prepared", args: []any{7}, say: []string{"SELECT COUNT(*) AS n FROM /*! test_order */ WHERE /*!99999 ' */ buyer_uid = /*!40000 ? */"}},
			attack{name: "comments that run, prepared as text", say: []string{"PREPARE p FROM 'SELECT COUNT(*) AS n FROM /*! test_order */ /*!99999 WHERE 0 */'", "EXECUTE p", "DEALLOCATE PREPARE p"}},
			attack{name: "a comment within a comment", refused: uncertain, say: []string{"SELECT 1 /*!40000 + /*! 5 */ + COUNT(*) FROM test_order"}},
			attack{name: "two statements in a comment", refused: uncertain, say: []string{"SELECT 1 /*!40000 ; DELETE FROM plain */"}},
			attack{name: "a comment that does not end", refused: uncertain, say: []string{"SELECT COUNT(*) FROM test_order /*!40000 WHERE 1"}},

			attack{name: "a character set by number", say: []string{"SET character_set_client = 28", "SELECT '\xbf\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "gbk", charset: "gbk", say: []string{"SELECT '\xbf\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "swe7", charset: "swe7", say: []string{"SELECT '\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "gbk by SET CHARACTER SET", say: []string{"SET CHARACTER SET 'GBK'", "SELECT '\xbf\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "gbk by an expression", say: []string{"SET character_set_client = CONCAT('gb', 'k')", "SELECT '\xbf\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "sjis as the connection's", say: []string{"SET character_set_connection = sjis", "SELECT '\x83\\' , COUNT(*) FROM test_order -- '"}},
			attack{name: "euckr", charset: "euckr", say: []string{"SELECT COUNT(*) FROM test_order WHERE '\xb0\xa1' = '\xb0\xa1' -- \xb0\xa1'"}},
			attack{name: "letters in UTF-8", say: []string{"SELECT COUNT(*) AS é FROM test_order --\u00a0x"}, maybe: []uint16{1054}},
		)
	})
}

// A login can't choose a character set whose texts can't be read.
func TestLoginsInUnreadableCharacterSets(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, collation := range []string{"gbk_chinese_ci", "big5_chinese_ci", "sjis_japanese_ci", "cp932_japanese_ci", "swe7_swedish_ci"} {
			c, err := client.Connect(s.Addr, "app", password, s.Schema, func(c *client.Conn) error { return c.SetCollation(collation) })
			var refused *mysql.MyError
			if !errors.As(err, &refused) || refused.Code != mysql.ER_UNKNOWN_CHARACTER_SET {
				t.Errorf("%s: %v", collation, err)
			}
			if err == nil {
				_ = c.Close()
			}
		}
	})
}
