package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// Config is the server's data directory and port.
type Config struct {
	Dir  string // created if it doesn't exist; used by one server at a time
	Port int    // for clients, on 127.0.0.1; 0 for a free one
	// Unflushed keeps writes in the system's cache, for tests: they survive the end of the process, and not a power cut.
	Unflushed bool
}

const (
	// history is how many of the latest changes are kept for watches. Older ones are removed every five minutes.
	history = "10000"
	// Suffices for a route map of 65,536 entries and its history in one write.
	maxWrite = 8 << 20
	maxOps   = 4096
)

// Server is a running etcd.
type Server struct {
	etcd *embed.Etcd
	log  *os.File
	lock *os.File // held while the server uses the directory
}

// Start runs a server on the directory's data, or on no data if it is empty. It waits until the server is ready or the
// context ends; the context applies only to the start. The server logs warnings and errors to etcd.log in the
// directory. Fatal errors also go to standard error.
func Start(ctx context.Context, c Config) (*Server, error) {
	s, err := start(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", c.Dir, err)
	}
	return s, nil
}

func start(ctx context.Context, c Config) (_ *Server, err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &Server{}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	if s.lock, err = lock(filepath.Join(c.Dir, "lock")); err != nil {
		return nil, err
	}
	if s.log, err = openLog(filepath.Join(c.Dir, "etcd.log")); err != nil {
		return nil, err
	}
	if s.etcd, err = embed.StartEtcd(settings(c, s.log)); errors.Is(err, syscall.ENOSPC) {
		return nil, fmt.Errorf("the disk of %s is full: free space there: %w", c.Dir, err)
	} else if err != nil {
		return nil, err
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return s, nil
	case err := <-s.etcd.Err():
		return nil, err
	case <-s.etcd.Server.StopNotify():
		return nil, errors.New("it stopped; see etcd.log there")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func settings(c Config, log *os.File) *embed.Config {
	client := url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port))}
	nowhere := url.URL{Scheme: "http", Host: "127.0.0.1:1"} // peers must have an address, even if they don't listen
	e := embed.NewConfig()
	e.Name = "embedded"
	e.Dir = filepath.Join(c.Dir, "data")
	e.ListenClientUrls, e.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	e.ListenPeerUrls, e.AdvertisePeerUrls = nil, []url.URL{nowhere}
	e.InitialCluster = e.InitialClusterFromName(e.Name)
	e.AutoCompactionMode, e.AutoCompactionRetention = embed.CompactorModeRevision, history
	e.MaxRequestBytes, e.MaxTxnOps = maxWrite, maxOps
	e.EnableGRPCGateway = false
	e.UnsafeNoFsync = c.Unflushed
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger(log, c.Dir, os.Stderr, os.Exit))
	return e
}

// Endpoint returns the host:port for clients.
func (s *Server) Endpoint() string { return s.etcd.Clients[0].Addr().String() }

// Err returns a channel of the server's fatal error. It is closed after Close.
func (s *Server) Err() <-chan error { return s.etcd.Err() }

// Close ends the server after waiting a few seconds for connected clients. It keeps the data for the next start. Call
// it once.
func (s *Server) Close() error {
	if s.etcd != nil {
		s.etcd.Close()
	}
	var err error
	if s.log != nil {
		err = s.log.Close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
