package config

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Files are the findings about the files that a configuration names.
type Files struct {
	Unusable error    // the process can't do its work with them
	Expired  error    // clients that check certificates refuse these now
	Warnings []string // what is likely to be wrong
}

// file is a file that the configuration names.
type file struct {
	field, path string
	secret      bool // only its owner may read it
}

func (c *Config) files() []file {
	return slices.DeleteFunc([]file{
		{"etcd.password_file", c.Etcd.PasswordFile, true},
		{"etcd.tls.ca", c.Etcd.TLS.CA, false},
		{"etcd.tls.cert", c.Etcd.TLS.Cert, false},
		{"etcd.tls.key", c.Etcd.TLS.Key, true},
		{"proxy.tls.cert", c.Proxy.TLS.Cert, false},
		{"proxy.tls.key", c.Proxy.TLS.Key, true},
		{"http.password_file", c.HTTP.PasswordFile, true},
		{"http.tls.cert", c.HTTP.TLS.Cert, false},
		{"http.tls.key", c.HTTP.TLS.Key, true},
		{"ids.tls.cert", c.IDs.TLS.Cert, false},
		{"ids.tls.key", c.IDs.TLS.Key, true},
		{"key_ring", c.KeyRing, false}, // its own reader checks its mode
		{"tracing.headers_file", c.Tracing.HeadersFile, true},
		{"tracing.ca", c.Tracing.CA, false},
	}, func(f file) bool { return f.path == "" })
}

// CheckFiles reports all files in the configuration that can't be opened. It doesn't check files that are created at
// the first start.
func (c *Config) CheckFiles() error {
	var p problems
	for _, f := range c.files() {
		if opened, err := os.Open(f.path); err != nil {
			p.add(f.field, "%w", err)
		} else {
			_ = opened.Close()
		}
	}
	c.Secrets.check(&p)
	return errors.Join(p...)
}

// Examine reads the files in the configuration, and reports all problems at once.
func (c *Config) Examine(now time.Time) Files {
	found := Files{Unusable: c.CheckFiles()}
	if found.Unusable != nil {
		return found
	}
	var unusable, expired problems
	if _, err := c.Etcd.ClientTLS(); err != nil {
		unusable = append(unusable, err)
	}
	for _, p := range []struct{ field, cert, key string }{
		{"proxy.tls", c.Proxy.TLS.Cert, c.Proxy.TLS.Key}, {"http.tls", c.HTTP.TLS.Cert, c.HTTP.TLS.Key}, {"ids.tls", c.IDs.TLS.Cert, c.IDs.TLS.Key},
	} {
		if p.cert == "" {
			continue
		}
		if _, err := tls.LoadX509KeyPair(p.cert, p.key); err != nil {
			unusable.add(p.field, "%s and %s: %w", p.cert, p.key, err)
			continue
		}
		expired.validity(p.field+".cert", p.cert, now)
	}
	expired.validity("etcd.tls.ca", c.Etcd.TLS.CA, now)
	expired.validity("etcd.tls.cert", c.Etcd.TLS.Cert, now)
	expired.validity("tracing.ca", c.Tracing.CA, now)
	found.Unusable, found.Expired = errors.Join(unusable...), errors.Join(expired...)
	found.Warnings = append(c.exposed(), c.otherHosts()...)
	return found
}

// validity checks the dates of all certificates in a file; an empty path has none.
func (p *problems) validity(field, path string, now time.Time) {
	for _, c := range certificatesOf(path) {
		switch {
		case now.After(c.NotAfter):
			p.add(field, "%s: the certificate of %s expired at %s: renew it", path, subject(c), c.NotAfter.UTC().Format(time.RFC3339))
		case now.Before(c.NotBefore):
			p.add(field, "%s: the certificate of %s is not valid before %s: check this machine's clock", path, subject(c), c.NotBefore.UTC().Format(time.RFC3339))
		}
	}
}

func certificatesOf(path string) (list []*x509.Certificate) {
	text, err := os.ReadFile(path)
	if path == "" || err != nil {
		return nil
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			list = append(list, c)
		}
	}
	return list
}

func subject(c *x509.Certificate) string {
	if c.Subject.CommonName != "" || len(c.DNSNames) == 0 {
		return fmt.Sprintf("%q", c.Subject.CommonName)
	}
	return fmt.Sprintf("%q", c.DNSNames[0])
}

// exposed returns warnings about secrets that others than their owner can read.
func (c *Config) exposed() (warnings []string) {
	for _, f := range c.files() {
		if stat, err := os.Stat(f.path); err == nil && f.secret && stat.Mode().Perm()&0o077 != 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %s has mode %04o, so others than its owner can read it: chmod 600 it", f.field, f.path, stat.Mode().Perm()))
		}
	}
	return warnings
}

// otherHosts returns warnings about certificates that aren't for the host under which a port is reached, as far as that is known.
func (c *Config) otherHosts() (warnings []string) {
	for _, p := range []struct{ field, path, address string }{
		{"proxy.tls.cert", c.Proxy.TLS.Cert, c.reachedAt()}, {"http.tls.cert", c.HTTP.TLS.Cert, c.HTTP.Listen}, {"ids.tls.cert", c.IDs.TLS.Cert, c.IDs.Listen},
	} {
		host, _, err := net.SplitHostPort(p.address)
		ip := net.ParseIP(host)
		if list := certificatesOf(p.path); err == nil && host != "" && (ip == nil || !ip.IsUnspecified() && !ip.IsLoopback()) && len(list) > 0 {
			if err := list[0].VerifyHostname(host); err != nil {
				warnings = append(warnings, fmt.Sprintf("%s: %s: clients that check the host's name refuse it: %s", p.field, p.path, strings.TrimPrefix(err.Error(), "x509: ")))
			}
		}
	}
	return warnings
}

// reachedAt returns the address that others find the proxy at.
func (c *Config) reachedAt() string {
	if c.Proxy.Advertise != "" {
		return c.Proxy.Advertise
	}
	return c.Proxy.Listen
}

// check reports a directory that isn't there. It is not needed if secrets are in the environment.
func (s Secrets) check(p *problems) {
	if s.Dir == "" {
		return
	}
	stat, err := os.Stat(s.Dir)
	switch {
	case err == nil && stat.IsDir():
		if _, err := os.ReadDir(s.Dir); err != nil {
			p.add("secrets.dir", "%w", err)
		}
	case err == nil:
		p.add("secrets.dir", "%s is a file: name the directory that holds one file for each secret", s.Dir)
	case errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, SecretEnvironment) }):
	case errors.Is(err, fs.ErrNotExist):
		p.add("secrets.dir", "%s doesn't exist, and no %s… is set: create it, or set the directory to \"\" if there are no secrets yet", s.Dir, SecretEnvironment)
	default:
		p.add("secrets.dir", "%w", err)
	}
}
