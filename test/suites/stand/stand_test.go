package stand

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

// The ends have the same account, which may make databases, and nothing else in
// common.
func TestEndsAreApart(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := Start(t, engine)
		for _, at := range s.Endpoints() {
			at.Database(t, "suite")
			db := at.DB(t, "suite")
			for _, statement := range []string{"CREATE TABLE t (at VARCHAR(10))", "INSERT INTO t VALUES ('" + at.Name + "')"} {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %s: %v", at.Name, statement, err)
				}
			}
		}
		for _, at := range s.Endpoints() {
			var got string
			if err := at.DB(t, "suite").QueryRowContext(t.Context(), "SELECT at FROM t").Scan(&got); err != nil || got != at.Name {
				t.Errorf("%s has the row of %q (%v)", at.Name, got, err)
			}
		}
	})
}
