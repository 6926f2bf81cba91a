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

// Config is etcd's address and the credentials.
type Config struct {
	Endpoints []string // host:port or http(s)://host:port; at least one
	Username  string   // empty for no login
	// Password is called at every login, so that a changed password takes effect without a restart. It is required with
	// Username.
	Password       func() (string, error)
	TLS            *tls.Config   // nil for plain TCP, or for the system's CAs with https://
	DialTimeout    time.Duration // time limit of one connection with login; default 5 s
	RequestTimeout time.Duration // time limit of one request, besides its context; default 5 s
	Log            *slog.Logger  // logs events between calls; nil for no log
}

const (
	defaultTimeout = 5 * time.Second
	// A dead peer is noticed after the sum of the two. A server treats more than one ping in 5 s as an attack.
	pingInterval = 10 * time.Second
	pingTimeout  = 5 * time.Second
	// The largest write. A server accepts 1.5 MiB unless its --max-request-bytes is larger.
	maxWrite = 8 << 20
)

// Client is a connection to etcd, made when first needed and again after a loss. It is safe for concurrent use.
type Client struct {
	config Config
	turn   chan struct{}    // holds one token; its holder owns the fields below
	conn   *clientv3.Client // nil until needed, and after a failed login
	closed bool
}

var errClosed = errors.New("etcd: the client is closed")

// Open checks the configuration. It doesn't connect, so an unavailable etcd fails the first request and not the start.
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

// Close ends every request, watch and lease. It waits for a login in progress, at most for the dial timeout.
func (c *Client) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	c.closed = true
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	if errors.Is(err, context.Canceled) { // caused by Close itself
		return nil
	}
	return err
}

// connection returns the logged-in connection.
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
		Logger:               zap.NewNop(), // what it would log is returned as errors
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

// forgetLogin closes a connection whose password is no longer valid, so that the next request reads the password again.
func (c *Client) forgetLogin(conn *clientv3.Client, err error) {
	if !errors.Is(err, rpctypes.ErrAuthFailed) {
		return
	}
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if c.conn == conn {
		_ = conn.Close() // nothing was lost that the failed login had not lost
		c.conn = nil
	}
}

// request runs one request under its deadline.
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
