package handshake

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files of SelfSigned, with MySQL's names.
const (
	certificateFile = "server-cert.pem"
	keyFile         = "server-key.pem"
	rsaFile         = "private_key.pem"
)

const (
	certificateYears = 10
	rsaBits          = 2048
)

// Identity is a server's certificate and the RSA key with which clients encrypt passwords.
type Identity struct {
	TLS *tls.Config // TLS 1.2 and above
	RSA *rsa.PrivateKey
}

// SelfSigned loads the certificate and keys in dir. It creates and keeps missing ones: a certificate for this host, valid for ten
// years, that clients can be configured to trust, and an RSA key. Several processes may call it concurrently; they end up with the
// same files.
func SelfSigned(dir string) (*Identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("certificate directory: %w", err)
	}
	key, err := kept(filepath.Join(dir, keyFile), newECKey)
	if err != nil {
		return nil, err
	}
	cert, err := kept(filepath.Join(dir, certificateFile), func() (*pem.Block, error) { return newCertificate(key) })
	if err != nil {
		return nil, err
	}
	rsaKey, err := kept(filepath.Join(dir, rsaFile), newRSAKey)
	if err != nil {
		return nil, err
	}
	id, err := assemble(cert, key, rsaKey)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return id, nil
}

// assemble builds an identity from the contents of its files.
func assemble(cert, key, rsaKey []byte) (*Identity, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s (remove both to have new ones made): %w", certificateFile, keyFile, err)
	}
	parsed, err := parsePrivateKey(rsaKey)
	if err != nil {
		return nil, fmt.Errorf("%s (remove it to have a new one made): %w", rsaFile, err)
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s (remove it to have a new one made): holds a %T, not an RSA key", rsaFile, parsed)
	}
	return &Identity{TLS: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, RSA: private}, nil
}

// kept returns the file's contents. If the file doesn't exist, it creates it atomically.
func kept(path string, create func() (*pem.Block, error)) ([]byte, error) {
	b, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	block, err := create()
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	if err := appear(path, pem.EncodeToMemory(block)); err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return os.ReadFile(path) // another process may have been first
}

// appear writes a file that only its owner can read, unless the file exists.
func appear(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func newECKey() (*pem.Block, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return privateKey(key)
}

func newRSAKey() (*pem.Block, error) {
	key, err := rsa.GenerateKey(rand.Reader, rsaBits)
	if err != nil {
		return nil, err
	}
	return privateKey(key)
}

func privateKey(key any) (*pem.Block, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, err
}

// newCertificate creates a certificate signed with its own key.
func newCertificate(keyPEM []byte) (*pem.Block, error) {
	parsed, err := parsePrivateKey(keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T, not an ECDSA key: remove it, or give a certificate for it", keyFile, parsed)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "locus"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(certificateYears, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true, // so that clients can also use it as a CA
		DNSNames: hostNames(), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return &pem.Block{Type: "CERTIFICATE", Bytes: der}, err
}

func hostNames() []string {
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil && host != "" && host != names[0] {
		names = append(names, host)
	}
	return names
}

func parsePrivateKey(content []byte) (any, error) {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	return x509.ParsePKCS8PrivateKey(block.Bytes)
}
