package main

import (
	"errors"
	"fmt"
	"net"

	"locus/config"
)

// ports is where a process listens; nil: it doesn't.
type ports struct {
	clients net.Listener // of a proxy
	page    net.Listener // for HTTP
	ids     net.Listener // for numbers without a login
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
		if l.ids, err = net.Listen("tcp", c.IDs.Listen); err != nil {
			return l, errors.Join(fmt.Errorf("ids.listen: %w", err), l.close())
		}
	}
	return l, nil
}

// addr is what the process is known by; nil: it listens nowhere.
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
