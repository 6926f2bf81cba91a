package e2e

import (
	"database/sql"
	"strings"
	"testing"

	"locus/test/shop"
)

func TestAnErrorIsAmongTheWarnings(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, _ *shop.Shop, db *sql.DB) {
		do, ask := oneSession(t, db)
		if err := do("SELECT no_such_column FROM setting"); err == nil {
			t.Fatal("no error")
		}
		for _, query := range []string{"SHOW WARNINGS", "SHOW ERRORS"} {
			if got := ask(query); !strings.HasPrefix(got, "Error|1054|") || strings.Count(got, "|") != 3 {
				t.Errorf("%s: %q", query, got)
			}
		}
		if err := do("DROP TABLE no_such_table, no_such_other"); err == nil {
			t.Fatal("no error")
		}
		if got := ask("SHOW WARNINGS"); !strings.Contains(got, "no_such_") {
			t.Errorf("SHOW WARNINGS: %q", got)
		}
		if got := ask("SELECT 1 FROM information_schema.tables LIMIT 1"); got != "1|" {
			t.Errorf("SELECT 1: %q", got)
		}
		if got := ask("SHOW WARNINGS"); got != "" {
			t.Errorf("warnings of a statement without any: %q", got)
		}
	})
}
