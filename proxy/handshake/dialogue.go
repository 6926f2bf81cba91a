package handshake

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// dialogue is the packet exchange of one login.
type dialogue struct {
	cfg    *Config
	stream *stream.Conn
	nonce  [wire.NonceSize]byte
	seq    byte   // number of the next packet in either direction
	out    []byte // buffer for packets
}

func newDialogue(s *stream.Conn, cfg *Config) *dialogue {
	d := &dialogue{cfg: cfg, stream: s, out: make([]byte, 0, 512)}
	s.SetLimit(d.limit())
	return d
}

func (d *dialogue) limit() int {
	if d.cfg.MaxPacket > 0 {
		return d.cfg.MaxPacket
	}
	return defaultMaxPacket
}

// within runs talk until ctx ends. If that fails, it sends the client an error, as far as the client may know it, and closes the
// connection.
func (d *dialogue) within(ctx context.Context, talk func() error) error {
	conn := d.stream.NetConn() // the network connection, also once TLS is used
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	err := talk()
	var told *mysql.MyError
	if errors.As(err, &told) {
		d.refuse(told)
	}
	if !stop() {
		<-interrupted
		err = outOfTime(context.Cause(ctx), err)
	}
	if err != nil {
		_ = d.stream.Close()
	}
	return err
}

func outOfTime(cause, err error) error {
	if err == nil {
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// send sends packets that were appended to d.out.
func (d *dialogue) send(packets []byte, next byte) error {
	d.out, d.seq = packets, next
	_, err := d.stream.Write(packets)
	return err
}

// receive reads a client's packet and returns a copy of its payload.
func (d *dialogue) receive() ([]byte, error) {
	view, seq, err := d.stream.Payload()
	switch {
	case errors.Is(err, stream.ErrTooLarge):
		return nil, fmt.Errorf("%w: %w", mysql.NewDefaultError(mysql.ER_NET_PACKET_TOO_LARGE), err)
	case err != nil:
		return nil, err
	case seq != d.seq:
		due := d.seq
		d.seq = seq + 1
		return nil, fmt.Errorf("%w: number %d where %d is due", mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER), seq, due)
	}
	d.seq++
	payload := bytes.Clone(view)
	d.stream.Done()
	return payload, nil
}

// refuse sends the client the error and ends the connection.
func (d *dialogue) refuse(e *mysql.MyError) {
	if err := d.send(wire.AppendERR(d.out[:0], d.seq, e, mysql.CLIENT_PROTOCOL_41)); err != nil {
		return
	}
	if e.Code != mysql.ER_ACCESS_DENIED_ERROR {
		d.hearOut()
	}
}

// hearOut reads the remaining bytes that a client sends, within bounds. Closing a connection with unread bytes resets it, and
// the client might not get the error.
func (d *dialogue) hearOut() {
	const patience, most = time.Second, 1 << 20
	conn := d.stream.NetConn()
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	_, _ = io.CopyN(io.Discard, conn, most)
}

// secret reports whether nobody can eavesdrop on the client.
func (d *dialogue) secret() bool {
	for conn := d.stream.NetConn(); ; {
		switch conn.(type) {
		case *tls.Conn, *net.UnixConn:
			return true
		}
		layer, ok := conn.(interface{ NetConn() net.Conn }) // layers such as compression
		if !ok {
			return false
		}
		conn = layer.NetConn()
	}
}

// host returns the client's host as MySQL shows it in error messages.
func (d *dialogue) host() string {
	address := d.stream.NetConn().RemoteAddr().String()
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return "localhost"
}
