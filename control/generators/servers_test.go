//go:build servers

package generators

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"locus/internal/test/servers"
	"locus/router/cluster"
)

// secrets can be changed while a generator is open.
type secrets struct {
	mu     sync.Mutex
	values map[string]string
}

func (s *secrets) set(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name] = value
}

func (s *secrets) lookup(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value, there := s.values[name]; there {
		return value, nil
	}
	return "", fmt.Errorf("secret %s: there is none", name)
}

// certificate writes a self-signed certificate for 127.0.0.1, and returns its text.
func certificate(t *testing.T) (file, key, text string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	private, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	dir := t.TempDir()
	file, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, content := range map[string]string{file: text, key: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, key, text
}

// Redis is used over TLS with an account. A password can be changed without a restart. Errors name the problem,
// but never contain the password.
func TestAccountsAndTLSOfRedis(t *testing.T) {
	file, key, text := certificate(t)
	port := servers.Port(t)
	process := servers.Redis(t, "--tls-port", port, "--tls-cert-file", file, "--tls-key-file", key, "--tls-ca-cert-file", file, "--tls-auth-clients", "no")
	do := func(words ...string) {
		if _, err := process.Do(words...); err != nil {
			t.Fatal(err)
		}
	}
	do("ACL", "SETUSER", "locus", "on", ">first", "~*", "&*", "+@all")
	address := net.JoinHostPort("127.0.0.1", port)
	verified := cluster.Servers{User: "locus", TLS: cluster.TLSVerify, CA: "authority"}
	declared := map[string]cluster.Generator{
		"good":      {Kind: cluster.BucketsGenerator, Server: address, Secret: "password", Servers: verified},
		"unchecked": {Kind: cluster.BucketsGenerator, Server: address, Secret: "password", Servers: cluster.Servers{User: "locus", TLS: cluster.TLSOn}},
		"system":    {Kind: cluster.BucketsGenerator, Server: address, Secret: "password", Servers: cluster.Servers{User: "locus", TLS: cluster.TLSVerify}},
		"plain":     {Kind: cluster.BucketsGenerator, Server: address, Secret: "password", Servers: cluster.Servers{User: "locus"}},
		"stranger":  {Kind: cluster.BucketsGenerator, Server: address, Secret: "other", Servers: verified},
		"none":      {Kind: cluster.BucketsGenerator, Server: address, Secret: "nowhere", Servers: verified},
		"nonsense":  {Kind: cluster.BucketsGenerator, Server: address, Secret: "password", Servers: cluster.Servers{User: "locus", TLS: cluster.TLSVerify, CA: "password"}},
	}
	known := &secrets{values: map[string]string{"password": "first", "other": "wrong", "authority": text}}
	set := New(Options{KV: newKV(), Name: "test", DataDir: t.TempDir(), Secrets: known.lookup})
	defer func() { _ = set.Close() }()
	next := func(name string) error {
		_, err := set.Next(t.Context(), Request{Declared: of(declared), Name: name, Count: 1})
		return err
	}
	for name, want := range map[string]string{
		"good": "", "unchecked": "", "system": "unknown authority", "plain": "Redis at " + address, "stranger": "WRONGPASS",
		"none": "secret nowhere: there is none", "nonsense": `authorities: secret "password" holds no PEM certificate`,
	} {
		if err := next(name); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: the error is %v and not %q", name, err, want)
		} else if err != nil && (strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "first")) {
			t.Errorf("%s: the error tells a password: %v", name, err)
		}
	}
	known.set("password", "second")
	do("ACL", "SETUSER", "locus", "resetpass", ">second")
	do("CLIENT", "KILL", "USER", "locus")
	if err := next("good"); err != nil {
		t.Errorf("with another password: %v", err)
	}
}
