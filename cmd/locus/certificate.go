package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	"locus/config"
)

// certificate is the one that a port shows to whoever connects. It can be changed
// while the port is open: connections that are there have seen the one before.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// server is what a listener takes.
func (c *certificate) server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current.Load(), nil
	}}
}

// certificates are those that the configuration names.
type certificates struct{ clients, page certificate }

// load reads all files; after an error those before stay.
func (c *certificates) load(from *config.Config) error {
	clients, err := pair("proxy.tls", from.Proxy.TLS)
	page, other := pair("http.tls", from.HTTP.TLS)
	if err := errors.Join(err, other); err != nil {
		return err
	}
	c.clients.current.Store(clients)
	c.page.current.Store(page)
	return nil
}

// pair is nil where none is named.
func pair(field string, files config.KeyPair) (*tls.Certificate, error) {
	if files.Cert == "" {
		return nil, nil
	}
	loaded, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return &loaded, nil
}
