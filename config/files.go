package config

import (
	"errors"
	"os"
)

// CheckFiles reports all files in the configuration that can't be opened. It doesn't check files that are created at
// the first start.
func (c *Config) CheckFiles() error {
	var p problems
	for _, f := range []struct{ field, path string }{
		{"etcd.password_file", c.Etcd.PasswordFile},
		{"etcd.tls.ca", c.Etcd.TLS.CA},
		{"etcd.tls.cert", c.Etcd.TLS.Cert},
		{"etcd.tls.key", c.Etcd.TLS.Key},
		{"proxy.tls.cert", c.Proxy.TLS.Cert},
		{"proxy.tls.key", c.Proxy.TLS.Key},
		{"http.password_file", c.HTTP.PasswordFile},
		{"http.tls.cert", c.HTTP.TLS.Cert},
		{"http.tls.key", c.HTTP.TLS.Key},
		{"key_ring", c.KeyRing},
		{"tracing.headers_file", c.Tracing.HeadersFile},
		{"tracing.ca", c.Tracing.CA},
	} {
		if f.path == "" {
			continue
		}
		if file, err := os.Open(f.path); err != nil {
			p.add(f.field, "%w", err)
		} else {
			_ = file.Close()
		}
	}
	return errors.Join(p...)
}
