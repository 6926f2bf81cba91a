package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/config"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// issue writes a certificate for a host that is valid between two times, and its key.
func issue(t *testing.T, host string, from, to time.Time) config.KeyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pair := config.KeyPair{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	write(t, pair.Cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, pair.Key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return pair
}

func TestExamine(t *testing.T) {
	hour := time.Hour
	good := issue(t, "db.example", noon.Add(-hour), noon.Add(hour))
	expired := issue(t, "db.example", noon.Add(-2*hour), noon.Add(-hour))
	early := issue(t, "db.example", noon.Add(hour), noon.Add(2*hour))
	notPEM, open, file := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "file")
	write(t, notPEM, "nothing")
	write(t, file, "x")
	write(t, open, "secret")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change                      func(c *config.Config)
		unusable, expired, warnings string
	}{
		"all is right":       {func(c *config.Config) { c.Proxy.TLS = good }, "", "", ""},
		"expired":            {func(c *config.Config) { c.Proxy.TLS = expired }, "", "proxy.tls.cert: " + expired.Cert + `: the certificate of "db.example" expired at 2026-06-01T11:00:00Z: renew it`, ""},
		"not yet valid":      {func(c *config.Config) { c.HTTP.TLS = early }, "", "is not valid before 2026-06-01T13:00:00Z: check this machine's clock", ""},
		"another's key":      {func(c *config.Config) { c.Proxy.TLS = config.KeyPair{Cert: good.Cert, Key: early.Key} }, "proxy.tls: " + good.Cert + " and " + early.Key, "", ""},
		"no certificate":     {func(c *config.Config) { c.HTTP.TLS = config.KeyPair{Cert: notPEM, Key: good.Key} }, "http.tls: ", "", ""},
		"a missing file":     {func(c *config.Config) { c.Proxy.TLS = config.KeyPair{Cert: good.Cert + "x", Key: good.Key} }, "proxy.tls.cert: open ", "", ""},
		"etcd's authority":   {func(c *config.Config) { c.Etcd.TLS = config.EtcdTLS{CA: expired.Cert} }, "", "etcd.tls.ca: ", ""},
		"etcd's certificate": {func(c *config.Config) { c.Etcd.TLS = config.EtcdTLS{CA: good.Cert, Cert: early.Cert, Key: early.Key} }, "", "etcd.tls.cert: ", ""},
		"a chain": {func(c *config.Config) {
			a, _ := os.ReadFile(good.Cert)
			b, _ := os.ReadFile(expired.Cert)
			write(t, notPEM+"2", string(a)+string(b))
			c.Proxy.TLS = config.KeyPair{Cert: notPEM + "2", Key: good.Key}
		}, "", "expired at", ""},
		"another host":      {func(c *config.Config) { c.Proxy.TLS, c.Proxy.Advertise = good, "other.example:3306" }, "", "", "proxy.tls.cert: " + good.Cert + ": clients that check the host's name refuse it"},
		"this host":         {func(c *config.Config) { c.Proxy.TLS, c.Proxy.Advertise = good, "db.example:3306" }, "", "", ""},
		"any host":          {func(c *config.Config) { c.Proxy.TLS, c.Proxy.Listen = good, "0.0.0.0:3306" }, "", "", ""},
		"an open password":  {func(c *config.Config) { c.HTTP.PasswordFile = open }, "", "", "http.password_file: " + open + " has mode 0644, so others than its owner can read it: chmod 600 it"},
		"no secrets":        {func(c *config.Config) { c.Secrets.Dir = "/nowhere/secrets" }, "secrets.dir: /nowhere/secrets doesn't exist", "", ""},
		"secrets in a file": {func(c *config.Config) { c.Secrets.Dir = file }, "secrets.dir: " + file + " is a file", "", ""},
		"secrets in the environment": {func(c *config.Config) {
			c.Secrets.Dir = "/nowhere/secrets"
			t.Setenv("LOCUS_SECRET_SHARDS_S0", "x")
		}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			c.Secrets.Dir = ""
			test.change(c)
			found := c.Examine(noon)
			_ = os.Unsetenv("LOCUS_SECRET_SHARDS_S0")
			for what, pair := range map[string][2]string{
				"unusable": {textOf(found.Unusable), test.unusable}, "expired": {textOf(found.Expired), test.expired}, "warnings": {strings.Join(found.Warnings, "\n"), test.warnings},
			} {
				if got, want := pair[0], pair[1]; (want == "") != (got == "") || !strings.Contains(got, want) {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
		})
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMisspelledFields(t *testing.T) {
	for text, want := range map[string]string{
		"# nothing\n":                   "the document is empty",
		"clustr: main":                  `line 1: unknown field "clustr": did you mean cluster?`,
		"proxy:\n  listn: 127.0.0.1:1":  `line 2: unknown field "listn": did you mean listen?`,
		"proxy: {tls: {certt: x}}":      `unknown field "certt": did you mean cert?`,
		"http: {accounts: [{usr: x}]}":  `unknown field "usr": did you mean user?`,
		"backends: {stal: 5s}":          `unknown field "stal": did you mean stall?`,
		"proxy: {transactions: sinlge}": `use xa, multi or single: did you mean single?`,
		"log: {level: wran}":            `use debug, info, warn or error: did you mean warn?`,
		"log: {format: jsno}":           `use text or json: did you mean json?`,
		"roles: [movr]":                 `use proxy, mover, ids: did you mean mover?`,
		"nonsense: 1":                   `line 1: unknown field "nonsense"`,
	} {
		if _, err := config.Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestEmptyFiles refuses a file that may not have been written whole.
func TestEmptyFiles(t *testing.T) {
	for text, empty := range map[string]bool{"": true, " \n\t\n": true, "# nothing\n": true, "{}\n": false, "cluster: a\n": false} {
		path := filepath.Join(t.TempDir(), "locus.yaml")
		write(t, path, text)
		if _, err := config.Load(path); (err != nil) != empty || empty && !strings.Contains(err.Error(), "empty: write {}") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
