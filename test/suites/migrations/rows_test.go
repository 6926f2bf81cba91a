//go:build long

package migrations

import (
	"database/sql"
	"strings"
	"testing"
)

// rows returns the values of a query with one field.
func rows(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	answer, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer answer.Close()
	var list []string
	for answer.Next() {
		var value string
		if err := answer.Scan(&value); err != nil {
			t.Fatal(err)
		}
		list = append(list, value)
	}
	if err := answer.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}
