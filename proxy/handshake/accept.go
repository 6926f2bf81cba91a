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

// Accept conducts a login on a connection that has just been accepted. It takes no longer than ctx lets it.
//
// The client still waits for the answer: the caller looks at Client.Database and then sends wire.AppendOK or wire.AppendERR with
// Client.NextSeq and Client.Capabilities.
//
// If it returns an error, the connection is closed. If the error holds a *mysql.MyError, that is what the client was told. io.EOF is
// a client that went away without a word, such as a health check.
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

// ChangeUser conducts COM_CHANGE_USER on a connection that c is logged in on. payload and seq are what Stream.Payload returned;
// they are done with. The result shares c's stream, and as after Accept the client waits for an answer. If there is an error, the
// connection is closed, as MySQL does.
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
		return d.authenticate(ctx, &changed, claim)
	})
	if err != nil {
		return nil, fmt.Errorf("change of user from %s: %w", c.Stream.NetConn().RemoteAddr(), err)
	}
	return &changed, nil
}

// greetingPlugin is what a client authenticates by unless it insists on another one.
const greetingPlugin = mysql.AUTH_CACHING_SHA2_PASSWORD

// login greets, goes over to TLS if that is wanted, and authenticates.
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

// claim is what a client gives as proof of who it is.
type claim struct {
	plugin   string
	response []byte
}

// response reads the answer to the greeting, by TLS if the client asks for that.
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

// take fills in what a login says.
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

// newNonce returns random text without NUL, which ends it in the greeting, and without '$', which separates the parts of a hash.
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

// encrypt goes over to TLS. What the client has sent ahead already belongs to that.
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

// replayed is a connection some of whose bytes were read before.
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

// NetConn is the connection underneath.
func (r *replayed) NetConn() net.Conn { return r.Conn }
