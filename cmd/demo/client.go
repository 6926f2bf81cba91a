package demo

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// loginPatience bounds one login, and statementPatience one statement.
const (
	loginPatience     = 5 * time.Second
	statementPatience = 30 * time.Second
)

// conn is a client of a proxy whose every wait ends with its context.
type conn struct {
	*client.Conn
	release func() bool
}

func connect(ctx context.Context, addr, password string) (*conn, error) {
	login, cancel := context.WithTimeout(ctx, loginPatience)
	defer cancel()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		deadline, _ := login.Deadline()
		return raw, raw.SetDeadline(deadline)
	}
	c, err := client.ConnectWithDialer(login, "tcp", addr, shopUser, password, database, dial, func(c *client.Conn) error {
		return c.SetCollation("utf8mb4_general_ci") // the library's own choice is unknown to MariaDB
	})
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", addr, err)
	}
	raw := c.Conn.Conn
	return &conn{c, context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })}, nil
}

// allow gives the next statements their time.
func (c *conn) allow(ctx context.Context) error {
	if err := c.SetDeadline(time.Now().Add(statementPatience)); err != nil {
		return err
	}
	return ctx.Err() // which may have ended between its deadline and this one
}

func (c *conn) close() {
	c.release()
	_ = c.Close()
}
