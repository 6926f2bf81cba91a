package handshake

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// Accept conducts the login on an accepted connection. It ends when ctx ends at the latest.
//
// The client still waits for the answer. The caller checks Client.Database and then sends wire.AppendOK or wire.AppendERR with
// Client.NextSeq and Client.Capabilities.
//
// On an error the connection is closed. If the error wraps a *mysql.MyError, that was sent to the client. io.EOF means that the
// client closed the connection without sending anything, like a health check.
func Accept(ctx context.Context, conn net.Conn, cfg *Config) (*Client, error) {
	d := newDialogue(stream.New(conn), cfg)
	var client *Client
	err := d.within(ctx, func() (err error) {
		client, err = d.login(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("login from %s: %w", conn.RemoteAddr(), err)
	}
	return client, nil
}

// ChangeUser conducts COM_CHANGE_USER on c's connection. payload and seq are the results of Stream.Payload, which ChangeUser
// releases. The returned client shares c's stream, and waits for an answer as after Accept. On an error the connection is closed, as
// MySQL does.
func (c *Client) ChangeUser(ctx context.Context, cfg *Config, payload []byte, seq byte) (*Client, error) {
	d := newDialogue(c.Stream, cfg)
	d.nonce, d.seq = c.nonce, seq+1
	changed := *c
	err := d.within(ctx, func() error {
		login, err := wire.ParseChangeUser(payload, c.Capabilities)
		if err != nil {
			return fmt.Errorf("%w: %w", mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR), err)
		}
		if err := changed.take(login, c.Capabilities); err != nil {
			return err
		}
		if login.Collation == 0 {
			changed.Collation = c.Collation
		}
		changed.MaxPacket = c.MaxPacket
		claim := claim{plugin: string(login.Plugin), response: append([]byte(nil), login.Response...)}
		c.Stream.Done()
		if c.Capabilities&mysql.CLIENT_PLUGIN_AUTH != 0 {
			claim.early, d.nonce = true, newNonce()
			changed.nonce = d.nonce
		}
		return d.authenticate(ctx, &changed, claim)
	})
	if err != nil {
		return nil, fmt.Errorf("change of user from %s: %w", c.Stream.NetConn().RemoteAddr(), err)
	}
	return &changed, nil
}

// greetingPlugin is the authentication plugin that the greeting offers.
const greetingPlugin = mysql.AUTH_CACHING_SHA2_PASSWORD

// login sends the greeting, switches to TLS on request, and authenticates the client.
func (d *dialogue) login(ctx context.Context) (*Client, error) {
	d.nonce = newNonce()
	greeting := wire.Greeting{
		ServerVersion: d.cfg.ServerVersion(), ConnectionID: d.cfg.ConnectionID(), Nonce: d.nonce, Capabilities: d.cfg.offered(),
		Collation: defaultCollation, Status: mysql.SERVER_STATUS_AUTOCOMMIT, Plugin: greetingPlugin, Extended: d.cfg.extended(),
	}
	if d.cfg.Collation != nil {
		greeting.Collation = cmp.Or(d.cfg.Collation(), defaultCollation)
	}
	if err := d.send(wire.AppendGreeting(d.out[:0], greeting)); err != nil {
		return nil, err
	}
	client := &Client{ConnectionID: greeting.ConnectionID, nonce: d.nonce, Extended: greeting.Extended}
	claim, err := d.response(ctx, client)
	if err != nil {
		return nil, err
	}
	client.Stream = d.stream
	return client, d.authenticate(ctx, client, claim)
}

// claim is a client's proof of its identity.
type claim struct {
	plugin   string
	response []byte
	early    bool // sent with COM_CHANGE_USER, where servers ignore it and ask
}

// response reads the answer to the greeting, over TLS if the client requests it.
func (d *dialogue) response(ctx context.Context, client *Client) (claim, error) {
	payload, err := d.receive()
	if err != nil {
		return claim{}, err
	}
	if wire.IsTLSRequest(payload) && d.cfg.TLS != nil {
		if err := d.encrypt(ctx); err != nil {
			return claim{}, err
		}
		client.TLS = true
		if payload, err = d.receive(); err != nil {
			return claim{}, err
		}
	}
	login, err := wire.ParseLogin(payload)
	if err != nil {
		return claim{}, fmt.Errorf("%w: %w", mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR), err)
	}
	client.Extended &= login.Extended
	offered := d.cfg.offered()
	if !client.TLS {
		offered &^= mysql.CLIENT_SSL
	}
	return claim{plugin: string(login.Plugin), response: login.Response}, client.take(login, offered)
}

// take copies the fields of a login.
func (c *Client) take(login wire.Login, offered uint32) error {
	c.User = string(login.User)
	c.Database = string(login.Database)
	c.Capabilities = login.Capabilities & offered
	c.Collation = login.Collation
	c.MaxPacket = login.MaxPacket
	c.Attributes = nil
	for rest := login.Attributes; len(rest) > 0 && len(c.Attributes) < maxAttributes; {
		name, value, next, err := wire.NextAttribute(rest)
		if err != nil {
			return fmt.Errorf("%w: %w", mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR), err)
		}
		if c.Attributes == nil {
			c.Attributes = map[string]string{}
		}
		c.Attributes[string(name)] = string(value)
		rest = next
	}
	return nil
}

// newNonce returns random text without NUL, which would end it in the greeting, and without '$', which separates the parts of a
// hash.
func newNonce() (nonce [wire.NonceSize]byte) {
	_, _ = rand.Read(nonce[:]) // never fails
	for i, b := range nonce {
		if b &= 0x7f; b == 0 || b == '$' {
			b++
		}
		nonce[i] = b
	}
	return nonce
}

// encrypt switches to TLS. Bytes already received belong to the TLS stream.
func (d *dialogue) encrypt(ctx context.Context) error {
	conn := d.stream.NetConn()
	if ahead := d.stream.Unread(); len(ahead) > 0 {
		conn = &replayed{Conn: conn, first: append([]byte(nil), ahead...)}
		d.stream.Discard(len(ahead))
	}
	d.stream.Release()
	encrypted := tls.Server(conn, d.cfg.TLS)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	d.stream = stream.New(encrypted)
	d.stream.SetLimit(d.limit())
	return nil
}

// replayed is a connection that returns bytes read earlier first.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(b []byte) (int, error) {
	if len(r.first) == 0 {
		return r.Conn.Read(b)
	}
	n := copy(b, r.first)
	r.first = r.first[n:]
	return n, nil
}

// NetConn returns the underlying connection.
func (r *replayed) NetConn() net.Conn { return r.Conn }
