//go:build servers

package schema

import (
	"context"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// If an account would see only a part of the objects, the error lists the missing privileges.
func TestUnseen(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		server := s.servers[0]
		server.Exec(t, "CREATE USER seeing@'%' IDENTIFIED BY '"+server.Password+"'")
		t.Cleanup(func() {
			if err := server.Execute(context.WithoutCancel(t.Context()), "DROP USER seeing@'%'"); err != nil {
				t.Error(err)
			}
		})
		theirs := *server
		theirs.User = "seeing"
		for _, step := range []struct {
			grant string
			want  []string
		}{
			{"GRANT SELECT, INSERT ON " + s.database + ".* TO seeing@'%'", []string{"GRANT SHOW VIEW, TRIGGER, EVENT ON `" + s.database + "`.* TO 'seeing'@'%'", "the bodies of routines can't be seen: GRANT S"}},
			{"GRANT SHOW VIEW, TRIGGER, EVENT ON " + s.database + ".* TO seeing@'%'", []string{"the bodies of routines can't be seen: GRANT S"}},
			{"GRANT SELECT ON *.* TO seeing@'%'", []string{"GRANT SHOW VIEW, TRIGGER, EVENT ON *.* TO 'seeing'@'%'"}},
			{"GRANT SHOW VIEW, TRIGGER, EVENT ON *.* TO seeing@'%'", nil},
		} {
			server.Exec(t, step.grant)
			s.queriers["s0"] = asked{theirs.DB(t, s.database)}
			got := ""
			if err := s.load(t).Unseen; err != nil {
				got = err.Error()
			}
			if strings.Count(got, "GRANT") != len(step.want) {
				t.Errorf("after %s: %q, want %q", step.grant, got, step.want)
			}
			for _, want := range step.want {
				if !strings.Contains(got, want) {
					t.Errorf("after %s: %q, without %q", step.grant, got, want)
				}
			}
		}
	})
}
