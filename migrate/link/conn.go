package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

// Conn is a connection for one goroutine at a time.
type Conn struct {
	version Version
	addr    string

	c      *client.Conn
	broken error // why no further statement is possible, or nil

	prepared map[string]*Prepared // by text
	posted   *Posted              // the statement whose answer is not read yet
}

// settings preserve values unchanged. Foreign keys and checks held at the source, and rows arrive in another order.
var settings = []string{
	"SET NAMES binary",
	"SET SESSION time_zone = '+00:00', foreign_key_checks = 0, sql_mode = '" + Strict + "'",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	// Global settings must not truncate results, nor refuse or chain writes.
	"SET SESSION sql_select_limit = 18446744073709551615, sql_big_selects = 1, sql_safe_updates = 0, sql_auto_is_null = 0, unique_checks = 1, autocommit = 1, completion_type = 0",
	"DO GET_LOCK(CONCAT('" + Mark + "', CONNECTION_ID()), 0)", // see Mark
	"SET SESSION wait_timeout = 3600, net_read_timeout = 600, net_write_timeout = 600, innodb_lock_wait_timeout = 20",
}

// Mark is the prefix of the name of the lock that every connection of a mover holds. By it, movers' connections can be told
// from connections of proxies that have ended. The connection's ID on the server follows the prefix.
const Mark = "locus:mover:"

// SQL modes. Strict refuses invalid values. Lax is for an ENUM's error value, number 0, which servers don't store in
// strict mode.
const (
	Strict = "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
	Lax    = "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES"
)

// Dial logs in and sets up the session.
func Dial(ctx context.Context, s Server) (*Conn, error) {
	dialer := net.Dialer{Timeout: dialPatience}
	login, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	// The login itself ignores the context, so its socket observes it.
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		deadline, _ := login.Deadline()
		return c, c.SetDeadline(deadline)
	}
	c, err := client.ConnectWithDialer(login, "tcp", s.Addr, s.User, s.Password, "", dial, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		c.SetTLSConfig(s.TLS)
		return c.SetCapability(mysql.CLIENT_LOCAL_FILES) // for Load; a file request in answer to any other statement is a protocol error
	})
	if end, _ := login.Deadline(); err != nil && ctx.Err() == nil && !time.Now().Before(end) {
		return nil, fmt.Errorf("log in to %s: no answer within %v: check its machine, its disks and the network: %w", s.Addr, dialPatience, context.DeadlineExceeded)
	}
	if err != nil {
		return nil, fmt.Errorf("log in to %s: %w", s.Addr, err)
	}
	conn := &Conn{c: c, addr: s.Addr}
	if err := conn.setUp(login); err != nil {
		return nil, errors.Join(fmt.Errorf("set up the session at %s: %w", s.Addr, err), conn.Close())
	}
	return conn, nil
}

func (c *Conn) setUp(ctx context.Context) (err error) {
	if err := c.c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if c.version, err = parseVersion(c.c.GetServerVersion()); err != nil {
		return err
	}
	for _, s := range settings {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	if c.version.Flavor == MariaDB {
		_, err = c.Exec(ctx, "SET SESSION check_constraint_checks = 0, max_statement_time = 0")
		return err
	}
	_, err = c.Exec(ctx, "SET SESSION max_execution_time = 0")
	return err
}

// Version returns the server's version.
func (c *Conn) Version() Version { return c.version }

// Broken returns why the connection can't be used again, or nil. The effect of the statement that broke it is unknown.
func (c *Conn) Broken() error { return c.broken }

// Close ends the connection. The server rolls back its transaction.
func (c *Conn) Close() error {
	if c.broken == nil {
		c.broken = errors.New("closed")
	}
	return ignoreClosed(c.c.Close())
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// guard runs do, which talks to the server, until ctx ends. An error from the server leaves the connection usable; any
// other breaks it.
func (c *Conn) guard(ctx context.Context, do func() error) error {
	if c.broken != nil {
		return fmt.Errorf("connection to %s is lost: %w", c.addr, c.broken)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = c.c.SetDeadline(time.Unix(1, 0))
	})
	err := do()
	if !stop() {
		<-interrupted
		c.broken = ctx.Err()
		return fmt.Errorf("%w (%s)", ctx.Err(), c.addr)
	}
	var refused *mysql.MyError
	if err != nil && !errors.As(err, &refused) {
		c.broken = err
	}
	return err
}

// Code returns the server's code of an error, or 0 if the error isn't the server's.
func Code(err error) uint16 {
	var refused *mysql.MyError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// Transient reports whether a server rolled a statement back for a temporary reason: a deadlock, which rolls back the
// whole transaction, or a lock wait timeout.
func Transient(err error) bool {
	switch Code(err) {
	case mysql.ER_LOCK_DEADLOCK, mysql.ER_LOCK_WAIT_TIMEOUT:
		return true
	}
	return false
}

// Duplicate reports whether a unique key refused a row.
func Duplicate(err error) bool {
	return Code(err) == mysql.ER_DUP_ENTRY || Code(err) == mysql.ER_DUP_ENTRY_WITH_KEY_NAME
}

// Text returns a literal for a name or another plain text, valid in every SQL mode that this package sets.
func Text(s string) string {
	return "'" + strings.NewReplacer(`'`, `\'`, `\`, `\\`, "\x00", `\0`).Replace(s) + "'"
}

// Name quotes a name.
func Name(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// Reason returns the server's own error message.
func Reason(err error) string {
	var refused *mysql.MyError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

// Redial replaces a broken connection with a new one to the same server.
func (c *Conn) Redial(ctx context.Context, s Server) error {
	_ = c.Close()
	fresh, err := Dial(ctx, s)
	if err != nil {
		return err
	}
	*c = *fresh
	return nil
}
