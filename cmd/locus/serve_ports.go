package main

import (
	"errors"
	"fmt"
	"net"

	"locus/config"
)

// ports holds the listeners of a process; nil for those that it does not have.
type ports struct {
	clients net.Listener // for MySQL clients
	page    net.Listener // for HTTP
	ids     net.Listener // serves numbers without a login
}

func listen(c *config.Config, shown *certificates) (l ports, err error) {
	if c.Does(config.ProxyTask) {
		if l.clients, err = net.Listen("tcp", c.Proxy.Listen); err != nil {
			return l, fmt.Errorf("proxy.listen: %w", err)
		}
	}
	if l.page, err = listenHTTP(c, shown); err != nil {
		return l, errors.Join(err, l.close())
	}
	if c.IDs.Listen != "" {
		if l.ids, err = listenTLS("ids.listen", c.IDs.Listen, c.IDs.TLS, &shown.ids); err != nil {
			return l, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// addr returns the address by which the process is known; nil if it does not listen.
func (l ports) addr() net.Addr {
	for _, listener := range []net.Listener{l.clients, l.page, l.ids} {
		if listener != nil {
			return listener.Addr()
		}
	}
	return nil
}

func (l ports) close() error {
	var errs []error
	for _, listener := range []net.Listener{l.clients, l.page, l.ids} {
		if listener != nil {
			errs = append(errs, listener.Close())
		}
	}
	return errors.Join(errs...)
}
