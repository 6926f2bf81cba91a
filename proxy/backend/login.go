package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
)

// dialFunc makes a logged-in connection with settings atLogin. Its errors are *LoginError.
type dialFunc func(ctx context.Context, t Target, prof Profile, timeout time.Duration) (*Conn, error)

// login dials and logs in within timeout. It uses TLS if the target has it, and caching_sha2_password (with the server's RSA
// key if there's no TLS), mysql_native_password or client_ed25519. The library does the login; its packet layer isn't used
// afterwards.
func login(ctx context.Context, t Target, prof Profile, timeout time.Duration) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var raw net.Conn
	session, err := converse(ctx, t, prof, &raw)
	if err == nil {
		err = mark(ctx, session, raw, t)
	}
	if err == nil {
		err = nothingBuffered(session, raw)
	}
	if err != nil {
		if raw != nil {
			_ = raw.Close()
		}
		return nil, &LoginError{Shard: t.Shard, Addr: t.Addr, User: t.User, Err: known(ctx, err)}
	}
	c := newConn(stream.New(loggedIn(session.Conn.Conn)), raw, t, prof)
	c.version = strings.TrimPrefix(session.GetServerVersion(), "5.5.5-")
	c.threadID = session.GetConnectionID()
	c.mark = marking(t, c.threadID)
	return c, nil
}

// marking returns the statement that marks a connection, or "".
func marking(t Target, id uint32) string {
	if t.Mark == "" {
		return ""
	}
	return fmt.Sprintf("DO GET_LOCK('%s%d', 0)", t.Mark, id)
}

// mark marks the connection before ctx ends.
func mark(ctx context.Context, session *client.Conn, raw net.Conn, t Target) error {
	statement := marking(t, session.GetConnectionID())
	if statement == "" {
		return nil
	}
	defer endWith(ctx, raw)()
	_, err := session.Execute(statement)
	return err
}

// converse makes the library log in on a connection whose reads and writes end with ctx.
func converse(ctx context.Context, t Target, prof Profile, raw *net.Conn) (session *client.Conn, err error) {
	password, err := t.Password()
	if err != nil {
		return nil, fmt.Errorf("read the password: %w", err)
	}
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		*raw = conn
		if err == nil && prof&ExtendedMetadata != 0 {
			return &extending{Conn: conn}, nil
		}
		return conn, err
	}
	release := func() {}
	defer func() {
		release()
		if p := recover(); p != nil { // the library indexes bytes from the server without bounds checks
			err = fmt.Errorf("the server's greeting is malformed: %v", p)
		}
	}()
	return client.ConnectWithDialer(ctx, "", t.Addr, t.User, password, "", dialer, func(c *client.Conn) error {
		release = endWith(ctx, *raw)
		return options(c, t, prof)
	})
}

func options(c *client.Conn, t Target, prof Profile) error {
	c.BufferSize = 4 << 10
	c.SetAttributes(map[string]string{"program_name": "locus", "_client_name": "locus"})
	c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
	c.UnsetCapability(mysql.CLIENT_QUERY_ATTRIBUTES)
	for _, flag := range prof.capabilities() {
		if err := c.SetCapability(flag); err != nil {
			return err
		}
	}
	c.SetTLSConfig(t.ClientTLS())
	return nil
}

// endWith ends conn's reads and writes when ctx ends, until release is called. Afterwards they have no deadline.
func endWith(ctx context.Context, conn net.Conn) (release func()) {
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(finished)
	})
	return func() {
		if !stop() {
			<-finished
		}
	}
}

// nothingBuffered makes sure that the library's read buffer is empty before it is abandoned. With a deadline in the past a
// read returns only buffered bytes.
func nothingBuffered(session *client.Conn, raw net.Conn) error {
	if err := raw.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	if _, err := session.ReadPacket(); err == nil || !strings.Contains(err.Error(), "timeout") {
		return errors.New("the server sent more than the answer to the login")
	}
	return raw.SetDeadline(time.Time{})
}

// known returns the cause of ctx's end in place of the error that this end caused on the connection.
func known(ctx context.Context, err error) error {
	if _, refused := errors.AsType[*ServerError](err); !refused && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
