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
	l, err := net.Listen("tcp", c.HTTP.Listen)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w", err)
	}
	if c.HTTP.TLS.Cert == "" {
		return l, nil
	}
	return tls.NewListener(l, shown.page.server()), nil
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
