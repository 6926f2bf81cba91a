package dbserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	// startPatience bounds a start for which the caller sets no limit. A start includes the initialisation, or
	// the recovery of a killed server.
	startPatience = 5 * time.Minute
	// portAttempts is the number of free ports that Start tries. Between the search for a free port and the
	// server's bind, another program may take the port.
	portAttempts = 5
)

// Start starts a server in its own directory and waits until root can log in. ctx bounds only the start. The
// server lives until [Server.Stop], [Server.Kill] or the end of this process. After an error no server is
// running, and the initialised directory stays.
func Start(ctx context.Context, installation *Installation, options Options) (*Server, error) {
	s, err := start(ctx, installation, options)
	if err != nil {
		return nil, fmt.Errorf("start %s in %s: %w", installation.Engine, options.Dir, err)
	}
	return s, nil
}

func start(ctx context.Context, installation *Installation, options Options) (*Server, error) {
	if options.Dir == "" {
		return nil, errors.New("no directory given")
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	d, err := openDirectory(ctx, options.Dir)
	if err != nil {
		return nil, err
	}
	s, err := startIn(ctx, d, installation, options)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return s, nil
}

func startIn(ctx context.Context, d *directory, installation *Installation, options Options) (*Server, error) {
	if err := ensureCertificates(d.file("tls")); err != nil {
		return nil, err
	}
	if err := installation.ensureData(ctx, d, options.Templates); err != nil {
		return nil, err
	}
	if options.BufferPool == 0 {
		options.BufferPool = defaultBufferPool
	}
	for attempt := 1; ; attempt++ {
		port, err := choosePort(options.Port)
		if err != nil {
			return nil, err
		}
		args := installation.serving(d, d.file("data"), port, options.BufferPool)
		p, err := installation.launch(ctx, d, append(args, options.Args...))
		if err == nil {
			return newServer(installation, d, p, port), nil
		}
		if options.Port != 0 || attempt == portAttempts || !errors.Is(err, errPortTaken) {
			return nil, err
		}
	}
}

// choosePort returns the requested port, or a port that is currently free.
func choosePort(asked int) (int, error) {
	if asked != 0 {
		return asked, nil
	}
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("find a free port: %s is no TCP address", listener.Addr())
	}
	return address.Port, nil
}
