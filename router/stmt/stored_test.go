package stmt

import (
	"fmt"
	"testing"
)

func TestStoredParams(t *testing.T) {
	for text, want := range map[string]string{
		"INSERT INTO t (a, b) VALUES (?, (?)), (1, ?)":                            "[true true true]",
		"REPLACE INTO t VALUES (? + 1, ?, CONCAT('x', ?), DEFAULT)":               "[false true false]",
		"INSERT INTO t SET a = ?, b = b + ?":                                      "[true false]",
		"INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = ?, b = IF(?, 1, 2)": "[true true false]",
		"INSERT INTO t SELECT ?, a FROM u WHERE b = ?":                            "[false false]",
		"UPDATE t SET a = ?, b = c = ?, d = d + ? WHERE e = ? LIMIT ?":            "[true false false false false]",
		"UPDATE t JOIN u ON t.a = ? SET t.b = ? WHERE u.c IN (?, ?)":              "[false true false false]",
		"DELETE FROM t WHERE a = ?":                                               "[false]",
		"SELECT ?":                                                                "[false]",
		"SELECT 1":                                                                "[]",
		"INSERT INTO t VALUES (?":                                                 "[]",
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		if got := fmt.Sprint(StoredParams(&l)); got != want {
			t.Errorf("%s: %s, should be %s", text, got, want)
		}
	}
}
