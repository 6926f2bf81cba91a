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

// conn is a connection to a proxy. All of its waits end with its context.
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
		return c.SetCollation("utf8mb4_general_ci") // MariaDB does not know the library's default collation
	})
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", addr, err)
	}
	raw := c.Conn.Conn
	return &conn{c, context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })}, nil
}

// allow sets the deadline for the next statements.
func (c *conn) allow(ctx context.Context) error {
	if err := c.SetDeadline(time.Now().Add(statementPatience)); err != nil {
		return err
	}
	return ctx.Err() // ctx may have ended before the new deadline was set, which would override the deadline of its end
}

func (c *conn) close() {
	c.release()
	_ = c.Close()
}
