package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// ClientTLS reads the certificates for etcd's client side. Without any it returns nil, unless the endpoints are
// https://. Then it uses the system's CAs.
func (e Etcd) ClientTLS() (*tls.Config, error) {
	if e.TLS == (EtcdTLS{}) && !e.secure() {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.TLS.CA != "" {
		pem, err := os.ReadFile(e.TLS.CA)
		if err != nil {
			return nil, fmt.Errorf("etcd.tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("etcd.tls.ca: %s holds no PEM certificate", e.TLS.CA)
		}
	}
	if e.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(e.TLS.Cert, e.TLS.Key)
		if err != nil {
			return nil, fmt.Errorf("etcd.tls.cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (e Etcd) secure() bool {
	for _, endpoint := range e.Endpoints {
		if scheme, _, err := splitEndpoint(endpoint); err == nil && scheme == "https" {
			return true
		}
	}
	return false
}

// Password reads the current password from the password file.
func (e Etcd) Password() (string, error) {
	if e.PasswordFile == "" {
		return "", nil
	}
	secret, err := ReadSecret(e.PasswordFile)
	if err != nil {
		return "", fmt.Errorf("etcd.password_file: %w", err)
	}
	return secret, nil
}
