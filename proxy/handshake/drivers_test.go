package handshake

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
	driver "github.com/go-sql-driver/mysql"
)

// attempt is a login by a real client library.
type attempt struct {
	address, user, password string
	tls                     *tls.Config
}

// clients are other people's implementations of the other side.
var clients = map[string]func(testing.TB, attempt) error{
	"go-sql-driver": bySQLDriver,
	"go-mysql":      byGoMySQL,
}

func bySQLDriver(t testing.TB, a attempt) error {
	c := driver.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd, c.DBName, c.TLS = "tcp", a.address, a.user, a.password, "shop", a.tls
	c.Logger = &driver.NopLogger{}
	connector, err := driver.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.Ping()
}

func byGoMySQL(_ testing.TB, a attempt) error {
	conn, err := client.Connect(a.address, a.user, a.password, "shop", func(c *client.Conn) error {
		c.SetTLSConfig(a.tls)
		return nil
	})
	if err != nil {
		return err
	}
	return errors.Join(conn.Ping(), conn.Quit())
}

// errorCode returns the code and the message of an error of either client library.
func errorCode(err error) (code uint16, message string) {
	var theirs *driver.MySQLError
	var ours *mysql.MyError
	switch {
	case errors.As(err, &theirs):
		return theirs.Number, theirs.Message
	case errors.As(err, &ours):
		return ours.Code, ours.Message
	}
	return 0, ""
}

// trusting returns a client's TLS configuration that trusts only the server's certificate.
func trusting(t testing.TB) *tls.Config {
	id, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	cert, err := x509.ParseCertificate(id.TLS.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(cert)
	return &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}

// Twice each: by caching_sha2_password the first login of a user may take the full path, and the second one the fast path.
func TestDriversLogIn(t *testing.T) {
	for name, connect := range clients {
		for _, encrypted := range []bool{false, true} {
			cfg := config(t)
			a := attempt{}
			if encrypted {
				a.tls = trusting(t)
			} else {
				withoutTLS(cfg)
			}
			s := serve(t, cfg)
			for _, user := range []string{"clear", "clear", "open", "native", "native", "sha2", "sha2"} {
				t.Run(fmt.Sprintf("%s/TLS %v/%s", name, encrypted, user), func(t *testing.T) {
					a.address, a.user, a.password = s.address, user, password
					if user == "open" {
						a.password = ""
					}
					if err := connect(t, a); err != nil {
						t.Error(err)
					}
					o := s.outcome(t)
					if o.err != nil {
						t.Fatal(o.err)
					}
					checkClient(t, o.client, user, encrypted)
				})
			}
		}
	}
}

func checkClient(t *testing.T, c *Client, user string, encrypted bool) {
	t.Helper()
	if c.User != user || c.Database != "shop" || c.TLS != encrypted || (c.Capabilities&mysql.CLIENT_SSL != 0) != encrypted {
		t.Errorf("%+v", c)
	}
	wanted := mysql.AUTH_CACHING_SHA2_PASSWORD
	if user == "native" && !encrypted {
		wanted = mysql.AUTH_NATIVE_PASSWORD
	}
	if c.Plugin != wanted {
		t.Errorf("authenticated by %s, want %s", c.Plugin, wanted)
	}
	if extra := c.Capabilities &^ (Capabilities | mysql.CLIENT_SSL); extra != 0 {
		t.Errorf("capabilities %#x that weren't offered", extra)
	}
	if c.Capabilities&mysql.CLIENT_CONNECT_ATTRS != 0 && c.Attributes["_client_name"] == "" {
		t.Errorf("attributes %v", c.Attributes)
	}
}

func TestDriversAreRefused(t *testing.T) {
	for name, connect := range clients {
		for _, encrypted := range []bool{false, true} {
			cfg := config(t)
			a := attempt{}
			if encrypted {
				a.tls = trusting(t)
			} else {
				withoutTLS(cfg)
			}
			s := serve(t, cfg)
			for _, user := range []string{"clear", "open", "native", "sha2", "nobody", ""} {
				for _, given := range []string{"wrong", ""} {
					if user == "open" && given == "" {
						continue
					}
					t.Run(fmt.Sprintf("%s/TLS %v/%s with %q", name, encrypted, user, given), func(t *testing.T) {
						a.address, a.user, a.password = s.address, user, given
						code, message := errorCode(connect(t, a))
						using := "YES"
						if given == "" {
							using = "NO"
						}
						want := fmt.Sprintf("Access denied for user '%s'@'127.0.0.1' (using password: %s)", user, using)
						if code != mysql.ER_ACCESS_DENIED_ERROR || message != want {
							t.Errorf("%d %s, want %s", code, message, want)
						}
						var told *mysql.MyError
						if o := s.outcome(t); !errors.As(o.err, &told) || told.Message != want {
							t.Error(o.err)
						}
					})
				}
			}
		}
	}
}

// Without TLS and an RSA key, only logins that don't send the password are possible.
func TestWithoutAnyKey(t *testing.T) {
	cfg := withoutTLS(config(t))
	cfg.RSA = nil
	s := serve(t, cfg)
	for user, wantCode := range map[string]uint16{"clear": 0, "native": 0, "open": 0, "sha2": mysql.ER_ACCESS_DENIED_ERROR} {
		a := attempt{address: s.address, user: user, password: password}
		if user == "open" {
			a.password = ""
		}
		if code, message := errorCode(bySQLDriver(t, a)); code != wantCode {
			t.Errorf("%s: %d %s", user, code, message)
		}
	}
}

func TestTLSVersions(t *testing.T) {
	s := serve(t, config(t))
	for version, allowed := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		c := trusting(t)
		c.MinVersion, c.MaxVersion = version, version
		err := bySQLDriver(t, attempt{address: s.address, user: "clear", password: password, tls: c})
		if (err == nil) != allowed {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
	}
}

// A digest is forgotten with the hash that it was right for.
func TestChangedPassword(t *testing.T) {
	cfg := withoutTLS(config(t))
	cfg.RSA = nil // without the key, only the fast path can work
	account := mustHash(t, "sha2", sha2Hash)
	cfg.Digests.put(account, doubleSHA256([]byte(password)))
	a := attempt{user: "sha2", password: password}
	a.address = serve(t, cfg).address
	if err := bySQLDriver(t, a); err != nil {
		t.Errorf("with the digest: %v", err)
	}
	changed := *cfg
	changed.Accounts = NewDirectory(mustHash(t, "sha2", sha2Hash[:len(sha2Hash)-2]+"2E"))
	a.address = serve(t, &changed).address
	if code, _ := errorCode(bySQLDriver(t, a)); code != mysql.ER_ACCESS_DENIED_ERROR {
		t.Errorf("with another hash: error %d", code)
	}
}
