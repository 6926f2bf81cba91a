//go:build servers

package servers

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Runner{M: m}) }

// put writes a row through go-sql-driver and reads it back.
func put(t *testing.T, s *Server, database string) {
	t.Helper()
	s.Exec(t, "CREATE TABLE "+database+".t (a INT PRIMARY KEY)")
	db := s.DB(t, database)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", 7); err != nil {
		t.Fatal(err)
	}
	wantRow(t, s, database)
}

func wantRow(t *testing.T, s *Server, database string) {
	t.Helper()
	var a int
	if err := s.DB(t, database).QueryRowContext(t.Context(), "SELECT a FROM t").Scan(&a); err != nil || a != 7 {
		t.Errorf("row is %d, %v; want 7", a, err)
	}
}

func TestSharedServersAreTheSameAndDatabasesAreNot(t *testing.T) {
	Engines(t, func(t *testing.T, engine Engine) {
		first := Shared(t, engine, 1)
		pids := []int{first[0].Pid()}
		var names []string
		for i := range 2 {
			t.Run("test", func(t *testing.T) {
				both := Shared(t, engine, 2)
				if both[0].Pid() != pids[0] || both[1].Pid() == pids[0] {
					t.Errorf("processes %d and %d, the first was %d", both[0].Pid(), both[1].Pid(), pids[0])
				}
				pids = append(pids, both[1].Pid())
				name := Database(t, both...)
				names = append(names, name)
				for _, s := range both {
					put(t, s, name)
				}
				if i == 1 && pids[1] != pids[2] {
					t.Errorf("the second server was process %d and is %d", pids[1], pids[2])
				}
			})
		}
		if names[0] == names[1] {
			t.Errorf("two tests have the database %s", names[0])
		}
		// The databases of tests that have ended are gone: their names are free.
		for _, name := range names {
			first[0].Exec(t, "CREATE DATABASE "+name, "DROP DATABASE "+name)
		}
	})
}

func TestOwnServersEndWithTheTest(t *testing.T) {
	Engines(t, func(t *testing.T, engine Engine) {
		var own []*Server
		t.Run("test", func(t *testing.T) {
			own = Start(t, engine, 2, "--max-connections=77")
			if own[0].Addr() == own[1].Addr() || own[0].Engine() != engine {
				t.Errorf("servers are %s at %s and %s", own[0].Engine(), own[0].Addr(), own[1].Addr())
			}
			var most int
			err := own[0].DB(t, "").QueryRowContext(t.Context(), "SELECT @@max_connections").Scan(&most)
			if err != nil || most != 77 {
				t.Errorf("max_connections is %d, %v; want the 77 asked for", most, err)
			}
		})
		for _, s := range own {
			select {
			case <-s.Done():
			default:
				t.Errorf("%s at %s outlives its test", engine, s.Addr())
			}
		}
	})
}

func TestRestartContinues(t *testing.T) {
	Engines(t, func(t *testing.T, engine Engine) {
		s := Start(t, engine, 1)[0]
		addr := s.Addr()
		s.Exec(t, "CREATE DATABASE d")
		put(t, s, "d")
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		s.Restart(t)
		if s.Addr() != addr {
			t.Errorf("address was %s and is %s", addr, s.Addr())
		}
		wantRow(t, s, "d")
	})
}
