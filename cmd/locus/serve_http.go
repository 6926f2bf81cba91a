package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"locus/config"
	"locus/control/console"
)

func listenHTTP(c *config.Config, shown *certificates) (net.Listener, error) {
	if c.HTTP.Listen == "" {
		return nil, nil
	}
	return listenTLS("http.listen", c.HTTP.Listen, c.HTTP.TLS, &shown.page)
}

// listenTLS listens on the address in a field of the configuration, with TLS if files are named for it.
func listenTLS(field, address string, files config.KeyPair, shown *certificate) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	if files.Cert == "" {
		return l, nil
	}
	return tls.NewListener(l, shown.server()), nil
}

// checkAccounts reports passwords that can't be read. Otherwise the first login would be the first to fail.
func checkAccounts(accounts []console.Account) error {
	var errs []error
	for _, a := range accounts {
		if _, err := a.Password(); err != nil {
			errs = append(errs, fmt.Errorf("http: the password of %s: %w", a.User, err))
		}
	}
	return errors.Join(errs...)
}

// serveHTTP serves until ctx ends. Running requests then have one second to end.
func serveHTTP(ctx context.Context, handler http.Handler, l net.Listener) error {
	server := console.Server(handler)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve http: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve http: %w", err)
	}
	return nil
}
