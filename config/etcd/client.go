package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Config says where etcd is and how to log in.
type Config struct {
	Endpoints []string // host:port or http(s)://host:port; at least one
	Username  string   // empty: no login
	// Password is asked at every login, so that a changed one counts without a
	// restart. Needed with Username.
	Password       func() (string, error)
	TLS            *tls.Config   // nil: plain TCP, or the system's authorities for https://
	DialTimeout    time.Duration // of one connection with login; default 5 s
	RequestTimeout time.Duration // of one request, besides its context; default 5 s
	Log            *slog.Logger  // of what goes on between calls; nil: nothing
}

const (
	defaultTimeout = 5 * time.Second
	// A dead peer is noticed after the sum. A server takes more than one ping
	// in 5 s for an attack.
	pingInterval = 10 * time.Second
	pingTimeout  = 5 * time.Second
	// The largest write. A server takes 1.5 MiB unless its --max-request-bytes
	// says more.
	maxWrite = 8 << 20
)

// Client is a connection to etcd, made when first needed and again when lost.
// Safe for concurrent use.
type Client struct {
	config Config
	turn   chan struct{}    // holds one token: whoever took it has the fields below
	conn   *clientv3.Client // nil until it is needed, and after a failed login
	closed bool
}

var errClosed = errors.New("etcd: the client is closed")

// Open checks the configuration. It doesn't connect: an etcd that is away is an
// error of the first request and not of the start.
func Open(c Config) (*Client, error) {
	if len(c.Endpoints) == 0 {
		return nil, errors.New("open etcd: name at least one endpoint")
	}
	if c.Username != "" && c.Password == nil {
		return nil, fmt.Errorf("open etcd: user %s has no password", c.Username)
	}
	c.DialTimeout = orDefault(c.DialTimeout)
	c.RequestTimeout = orDefault(c.RequestTimeout)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	client := &Client{config: c, turn: make(chan struct{}, 1)}
	client.turn <- struct{}{}
	return client, nil
}

func orDefault(d time.Duration) time.Duration {
	if d <= 0 {
		return defaultTimeout
	}
	return d
}

// Close ends every request, watch and lease. It waits for a login under way, at
// most the dial timeout.
func (c *Client) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.closed = true
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	if errors.Is(err, context.Canceled) { // Close's own doing
		return nil
	}
	return err
}

// connection is the connection, logged in.
func (c *Client) connection(ctx context.Context) (*clientv3.Client, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.closed {
		return nil, errClosed
	}
	if c.conn != nil {
		return c.conn, nil
	}
	password, err := c.password()
	if err != nil {
		return nil, err
	}
	c.conn, err = clientv3.New(clientv3.Config{
		Endpoints:            c.config.Endpoints,
		Username:             c.config.Username,
		Password:             password,
		TLS:                  c.config.TLS,
		DialTimeout:          c.config.DialTimeout,
		DialKeepAliveTime:    pingInterval,
		DialKeepAliveTimeout: pingTimeout,
		MaxCallSendMsgSize:   maxWrite,
		Logger:               zap.NewNop(), // what it would log comes back as errors
	})
	if err != nil {
		c.conn = nil
		return nil, fmt.Errorf("connect to etcd at %s: %w", strings.Join(c.config.Endpoints, ","), err)
	}
	return c.conn, nil
}

func (c *Client) password() (string, error) {
	if c.config.Username == "" {
		return "", nil
	}
	password, err := c.config.Password()
	if err != nil {
		return "", fmt.Errorf("password of etcd user %s: %w", c.config.Username, err)
	}
	if password == "" { // the library would not log in at all
		return "", fmt.Errorf("password of etcd user %s is empty", c.config.Username)
	}
	return password, nil
}

// forgetLogin gives up a connection whose password no longer counts, so that
// the next request asks for the password again.
func (c *Client) forgetLogin(conn *clientv3.Client, err error) {
	if !errors.Is(err, rpctypes.ErrAuthFailed) {
		return
	}
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if c.conn == conn {
		_ = conn.Close() // nothing was lost that the failed login hadn't lost
		c.conn = nil
	}
}

// request runs one exchange under the request's deadline.
func (c *Client) request(ctx context.Context, do func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.RequestTimeout)
	defer cancel()
	conn, err := c.connection(ctx)
	if err != nil {
		return notSent{err}
	}
	if err := do(ctx, conn); err != nil {
		c.forgetLogin(conn, err)
		return fmt.Errorf("etcd at %s: %w", strings.Join(c.config.Endpoints, ","), err)
	}
	return nil
}
