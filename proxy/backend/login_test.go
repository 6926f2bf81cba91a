//go:build servers

package backend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/servers"
)

func TestLogin(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default.WithDatabase("one"), 0)
		if !strings.HasPrefix(c.ServerVersion(), strings.Split(s.Version(), "-")[0]) {
			t.Errorf("version %q of a server %q", c.ServerVersion(), s.Version())
		}
		if got := value(t, c, "SELECT CONNECTION_ID() = "+itoa(c.ThreadID())); got != "1" {
			t.Errorf("the connection's ID isn't %d", c.ThreadID())
		}
		for variable, want := range map[string]string{
			"@@character_set_client": "utf8mb4", "@@character_set_results": "utf8mb4", "@@character_set_connection": "utf8mb4",
			"@@autocommit": "1", "DATABASE()": "one", "SUBSTRING_INDEX(USER(), '@', 1)": s.User,
		} {
			if got := value(t, c, "SELECT "+variable); got != want {
				t.Errorf("%s is %s, want %s", variable, got, want)
			}
		}
		p.Return(c)
	})
}

// MySQL's default plugin asks for the whole password at the first login after the account has changed. The
// password is encrypted with the server's key, because there is no TLS. The server caches it for the next
// login.
func TestLoginByKeyAndThenByMemory(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		const password = `pa'ss\wörd`
		if err := s.CreateUser(t.Context(), dbserver.User{Name: "fresh", Password: password}); err != nil {
			t.Fatal(err)
		}
		to := target(s)
		to.User, to.Password = "fresh", func() (string, error) { return password, nil }
		p := realPool(t, to, Limits{})
		a, b := borrow(t, p, Default, 0), borrow(t, p, Default, 0)
		p.Return(a)
		p.Return(b)
	})
}

func TestTLS(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		pem, err := os.ReadFile(s.CA())
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		to := target(s)
		to.TLS = &tls.Config{RootCAs: roots}
		p := realPool(t, to, Limits{})
		for range 3 {
			c := borrow(t, p, Default, 0)
			rows, err := c.Own().Query(t.Context(), "SHOW STATUS LIKE 'Ssl_version'")
			if err != nil || !strings.HasPrefix(string(rows.Rows[0][1]), "TLSv1.") {
				t.Errorf("%v, %v", rows, err)
			}
			if !c.pulse.alive() {
				t.Error("an idle TLS connection is taken for dead")
			}
			p.Return(c)
		}
		if n := p.Stats().Logins; n != 1 {
			t.Errorf("%d logins for one borrower at a time", n)
		}

		to.TLS = &tls.Config{}
		_, err = realPool(t, to, Limits{}).Borrow(t.Context(), Default, 0)
		if err == nil || !strings.Contains(err.Error(), "check the CA") {
			t.Errorf("a certificate by an unknown authority: %v", err)
		}
	})
}

func TestLoginErrorsSayWhatToMend(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		wrong := target(s)
		wrong.Password = func() (string, error) { return "hunter2", nil }
		_, err := realPool(t, wrong, Limits{}).Borrow(t.Context(), Default, 0)
		e, ok := errors.AsType[*ServerError](err)
		if !ok || e.Code != 1045 || !NotSent(err) {
			t.Errorf("wrong password: %v", err)
		}
		for _, part := range []string{"s7", s.Addr(), s.User, "check the user and its password"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q doesn't say %q", err, part)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q holds the password", err)
		}
	})
	nobody := Target{Shard: "s7", Addr: "127.0.0.1:1", User: "proxy", Password: func() (string, error) { return "", nil }}
	_, err := realPool(t, nobody, Limits{}).Borrow(t.Context(), Default, 0)
	if err == nil || !strings.Contains(err.Error(), "check that the server runs") {
		t.Errorf("nobody listens: %v", err)
	}
	nobody.Password = func() (string, error) { return "", errors.New("no such file") }
	_, err = realPool(t, nobody, Limits{}).Borrow(t.Context(), Default, 0)
	if err == nil || !strings.Contains(err.Error(), "read the password: no such file") {
		t.Errorf("no password: %v", err)
	}
}

func TestFoundRowsProfile(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		for prof, want := range map[Profile]uint64{0: 0, FoundRows: 1} {
			c := borrow(t, p, Default.WithDatabase("one"), prof)
			ok, err := c.Exec(t.Context(), "UPDATE place SET n = 1")
			if err != nil || ok.AffectedRows != want {
				t.Errorf("profile %v: an update that changes nothing counts %d rows, %v, want %d", prof, ok.AffectedRows, err, want)
			}
			p.Return(c)
		}
	})
}

func TestMultiStatementsProfile(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		c := borrow(t, p, Default, 0)
		if _, err := c.Exec(t.Context(), "DO 1; DO 2"); err == nil {
			t.Error("several statements pass without the profile")
		}
		p.Return(c)
		c = borrow(t, p, Default, MultiStatements)
		_, err := c.Exec(t.Context(), "DO 1; DO 2")
		if _, lost := errors.AsType[*LostError](err); !lost {
			t.Errorf("Exec of several statements: %v", err)
		}
		p.Return(c)
		eventually(t, "the first connection is clean again, and the one with an answer under way is closed", func() bool {
			s := p.Stats()
			return s.Lent == 0 && s.Idle == 1 && s.Open == 1
		})
	})
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
