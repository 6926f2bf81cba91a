package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/config"
)

func TestClientTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := selfSigned(t, dir)
	notPEM := filepath.Join(dir, "text")
	write(t, notPEM, "nothing")

	for _, test := range []struct {
		name  string
		etcd  config.Etcd
		check func(*tls.Config) bool
		fails string
	}{
		{"plain", config.Etcd{Endpoints: []string{"h:1"}}, func(c *tls.Config) bool { return c == nil }, ""},
		{"system's authorities", config.Etcd{Endpoints: []string{"https://h:1"}}, func(c *tls.Config) bool {
			return c != nil && c.RootCAs == nil && c.MinVersion == tls.VersionTLS12
		}, ""},
		{"own authority", config.Etcd{TLS: config.EtcdTLS{CA: cert}}, func(c *tls.Config) bool {
			return c != nil && c.RootCAs != nil && len(c.Certificates) == 0
		}, ""},
		{"certificate of ours", config.Etcd{TLS: config.EtcdTLS{CA: cert, Cert: cert, Key: key}}, func(c *tls.Config) bool {
			return c != nil && len(c.Certificates) == 1
		}, ""},
		{"no PEM", config.Etcd{TLS: config.EtcdTLS{CA: notPEM}}, nil, "etcd.tls.ca: "},
		{"key doesn't fit", config.Etcd{TLS: config.EtcdTLS{Cert: cert, Key: cert}}, nil, "etcd.tls.cert and key: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.etcd.ClientTLS()
			if test.fails != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.fails) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || !test.check(got) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func selfSigned(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return certFile, keyFile
}
