//go:build servers

package dbserver

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
)

func TestCreateUser(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		user := User{Name: `o'neill\`, Password: `p'a"s\s`}
		for range 2 { // a second call changes nothing
			if err := s.CreateUser(t.Context(), user); err != nil {
				t.Fatal(err)
			}
		}
		config := tcp(s, user.Name, user.Password)
		if err := login(t, config); err != nil {
			t.Errorf("log in: %v", err)
		}
		wrong := tcp(s, user.Name, "another")
		if err := login(t, wrong); err == nil {
			t.Error("another password is taken too")
		}
		user.Password = "another"
		if err := s.CreateUser(t.Context(), user); err != nil {
			t.Fatal(err)
		}
		if err := login(t, wrong); err != nil {
			t.Errorf("log in with the new password: %v", err)
		}
		plugin := map[Engine]string{MariaDB: "mysql_native_password", MySQL: "caching_sha2_password"}[s.Engine()]
		if got := ask(t, s, "SELECT plugin FROM mysql.user WHERE user LIKE 'o%'"); got != plugin {
			t.Errorf("plugin is %s, want %s", got, plugin)
		}
	})
}

func TestClientsCanVerifyTheServer(t *testing.T) {
	engines(t, func(t *testing.T, installation *Installation) {
		s := run(t, installation, Options{})
		if err := s.CreateUser(t.Context(), User{Name: "app", Password: "secret"}); err != nil {
			t.Fatal(err)
		}
		mustExecute(t, s, "ALTER USER app REQUIRE SSL")
		if err := login(t, tcp(s, "app", "secret")); err == nil {
			t.Error("the account does not require TLS")
		}
		pem, err := os.ReadFile(s.CA())
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			t.Fatalf("no certificate in %s", s.CA())
		}
		for _, name := range []string{"127.0.0.1", "localhost"} {
			config := tcp(s, "app", "secret")
			config.TLS = &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}
			if err := login(t, config); err != nil {
				t.Errorf("verify %s: %v", name, err)
			}
		}
		config := tcp(s, "app", "secret")
		config.TLS = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
		if err := login(t, config); err == nil {
			t.Error("verified by no authority at all")
		}
	})
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{``: `''`, `a`: `'a'`, `a'b`: `'a\'b'`, `a\`: `'a\\'`, `\'`: `'\\\''`} {
		if got := quote(text); got != want {
			t.Errorf("quote(%s) is %s, want %s", text, got, want)
		}
	}
}
