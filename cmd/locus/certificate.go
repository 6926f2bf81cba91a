package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"

	"locus/config"
)

// certificate is the TLS certificate of a port. It can be changed while the port is open. Existing connections
// keep the old one.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// server returns the TLS configuration for a listener.
func (c *certificate) server() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current.Load(), nil
	}}
}

// certificates holds the certificates that the configuration names.
type certificates struct{ clients, page, ids certificate }

// load reads all files. After an error the old certificates stay in use.
func (c *certificates) load(from *config.Config) error {
	clients, err := pair("proxy.tls", from.Proxy.TLS)
	page, ofPage := pair("http.tls", from.HTTP.TLS)
	ids, ofIDs := pair("ids.tls", from.IDs.TLS)
	if err := errors.Join(err, ofPage, ofIDs); err != nil {
		return err
	}
	c.clients.current.Store(clients)
	c.page.current.Store(page)
	c.ids.current.Store(ids)
	return nil
}

// pair reads a certificate and its key; nil if the configuration names none.
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
