//go:build servers

package backend

import (
	"maps"
	"slices"
	"testing"

	"locus/internal/test/servers"
)

// others contains at least one value for each variable that a connection resets with DEFAULT.
var others = []string{"0", "1", "2", "77", "ON", "OFF", "'ANSI'", "'+01:30'", "'-02:00'"}

// SET x = DEFAULT gives each of these variables the value that it has in a fresh session, whatever the
// session's and the server's global value are. It changes no other variable. MySQL 9.7's foreign_key_checks is
// excluded, because DEFAULT makes it 0.
func TestDefaultIsWhatAFreshSessionHas(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		found := 0
		for _, name := range slices.Sorted(maps.Keys(byDefault)) {
			global, has := sessionVariables(t, fresh(t, s))[name]
			if !has {
				continue
			}
			found++
			comesBack(t, s, name)
			for _, value := range others {
				if _, err := fresh(t, s).Own().Exec(t.Context(), "SET GLOBAL "+name+" = "+value); err == nil {
					comesBack(t, s, name)
				}
			}
			back := fresh(t, s)
			if _, err := back.Own().Exec(t.Context(), "SET GLOBAL "+name+" = '"+global+"'"); err != nil {
				exec(t, back, "SET GLOBAL "+name+" = "+global)
			}
		}
		if found < len(byDefault)-1 {
			t.Errorf("%d of %d variables are there", found, len(byDefault))
		}
	})
}

// comesBack holds that a variable is as in a fresh session after each value that it takes.
func comesBack(t *testing.T, s *servers.Server, name string) {
	t.Helper()
	c, taken := fresh(t, s), 0
	want := sessionVariables(t, c)
	for _, value := range others {
		if _, err := c.Own().Exec(t.Context(), "SET "+name+" = "+value); err != nil {
			continue
		}
		taken++
		exec(t, c, "SET "+name+" = DEFAULT")
		for other, now := range sessionVariables(t, c) {
			if now != want[other] {
				t.Errorf("SET %s = %s, and then = DEFAULT: %s is %q, and %q in a fresh session", name, value, other, now, want[other])
			}
		}
	}
	if taken < 2 {
		t.Errorf("%s takes %d of %q", name, taken, others)
	}
}

// restless are variables that change by themselves.
var restless = []string{"timestamp", "rand_seed1", "rand_seed2", "pseudo_thread_id", "gtid_current_pos", "last_gtid", "statement_id"}

func sessionVariables(t *testing.T, c *Conn) map[string]string {
	t.Helper()
	rows, err := c.Own().Query(t.Context(), "SHOW SESSION VARIABLES")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, row := range rows.Rows {
		if name := string(row[0]); !slices.Contains(restless, name) {
			all[name] = string(row[1])
		}
	}
	return all
}

// fresh returns a connection on which nothing has been done yet.
func fresh(t *testing.T, s *servers.Server) *Conn {
	t.Helper()
	c, err := login(t.Context(), target(s), 0, Limits{}.withDefaults().ConnectTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}
