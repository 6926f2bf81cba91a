package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"locus/cmd/console"
	"locus/config"
	"locus/proxy"
)

func listenHTTP(c *config.Config) (net.Listener, error) {
	if c.HTTP.Listen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", c.HTTP.Listen)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w", err)
	}
	return l, nil
}

// serveHTTP serves until ctx ends; requests under way have a second to end.
func serveHTTP(ctx context.Context, c *config.Config, p *proxy.Proxy, moves console.Moves, ids http.Handler, l net.Listener) error {
	login := console.Login{User: c.HTTP.User}
	if c.HTTP.PasswordFile != "" {
		password, err := config.ReadSecret(c.HTTP.PasswordFile)
		if err != nil {
			return errors.Join(fmt.Errorf("http.password_file: %w", err), l.Close())
		}
		login.Password = password
	}
	server := console.Server(console.New(p, moves, ids, login, buildVersion().Version))
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
