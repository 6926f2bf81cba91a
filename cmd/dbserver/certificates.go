package dbserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	authorityFile   = "ca.pem"
	certificateFile = "server-cert.pem"
	keyFile         = "server-key.pem"
)

// ensureCertificates creates a CA and a certificate for 127.0.0.1 and localhost, unless they exist. MariaDB
// 10.11 has no certificates of its own. Those that MySQL makes name no host, so no client could verify them.
func ensureCertificates(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeCertificates(dir); err != nil {
		return fmt.Errorf("certificates in %s: %w", dir, err)
	}
	return nil
}

func makeCertificates(dir string) error {
	authority, authorityKey, err := sign("locus database servers", nil, nil)
	if err != nil {
		return err
	}
	certificate, key, err := sign("localhost", authority, authorityKey)
	if err != nil {
		return err
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// The directory is renamed as a whole, so that an incomplete set is never used.
	unfinished := dir + ".new"
	if err := errors.Join(os.RemoveAll(unfinished), os.Mkdir(unfinished, 0o700)); err != nil {
		return err
	}
	return errors.Join(
		writePEM(filepath.Join(unfinished, authorityFile), "CERTIFICATE", authority.Raw),
		writePEM(filepath.Join(unfinished, certificateFile), "CERTIFICATE", certificate.Raw),
		writePEM(filepath.Join(unfinished, keyFile), "PRIVATE KEY", keyBytes),
		os.Rename(unfinished, dir),
	)
}

// sign creates a certificate signed by parent, or a CA if there is no parent.
func sign(name string, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-24 * time.Hour),
		NotAfter:              time.Now().AddDate(10, 0, 0),
		BasicConstraintsValid: true,
	}
	if parent == nil {
		template.IsCA = true
		template.KeyUsage = x509.KeyUsageCertSign
		parent, parentKey = template, key
	} else {
		template.KeyUsage = x509.KeyUsageDigitalSignature
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.DNSNames = []string{"localhost"}
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return certificate, key, err
}

func writePEM(path, kind string, content []byte) error {
	var text bytes.Buffer
	if err := pem.Encode(&text, &pem.Block{Type: kind, Bytes: content}); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}
