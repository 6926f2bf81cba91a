package reply

import (
	"bytes"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// LOAD DATA LOCAL: the shard asks for a file in the middle of its answer, and the
// client, who has been passed the question, sends it in packets of any length,
// the last one empty. They go on as their bytes arrive. The shard speaks again
// only behind the last of them, so nothing can be waited for on both sides.

// file is a client's file on its way to a shard.
type file struct {
	next byte // number of the next packet from the client
	rest int  // bytes to come of the packet under way
	long bool // the packet before is continued by the next
	last bool // the empty packet at the end has come
	// unnumbered: the client's numbers say nothing.
	unnumbered bool
}

// sendFile passes the client's file on to the shard, after the client was asked
// for it; next is the number that the shard expects. Whatever becomes of the shard,
// the client is heard to the end: it won't read an answer before.
func (t *Client) sendFile(c *backend.Conn, next byte) error {
	t.Stream.Done() // the command; nobody reads it any more
	t.Seq++
	f := file{next: t.Seq, unnumbered: t.Compressed()}
	shift := next - t.Seq
	var failure error
	for !f.last {
		b := t.Stream.Unread()
		n, err := f.take(b, shift)
		switch {
		case err != nil:
			return &GoneError{err}
		case n == 0:
			if err := t.Stream.Fill(); err != nil {
				return &GoneError{err}
			}
			continue
		case failure == nil:
			failure = c.Send(b[:n], backend.Nothing)
		}
		t.Stream.Discard(n)
	}
	t.Seq = f.next
	if failure != nil {
		return c.Lost(true, failure)
	}
	return nil
}

// take goes through the packets in b, numbers them as the shard counts, and says
// how many bytes go on.
func (f *file) take(b []byte, shift byte) (int, error) {
	n := min(f.rest, len(b))
	f.rest -= n
	for f.rest == 0 && !f.last && len(b)-n >= wire.HeaderSize {
		length, seq := wire.Header(b[n:])
		if seq != f.next && !f.unnumbered {
			return n, fmt.Errorf("packet %d of a file where %d is due: %w", seq, f.next, stream.ErrOutOfOrder)
		}
		wire.PutHeader(b[n:], length, f.next+shift)
		f.next++
		f.last = length == 0 && !f.long
		f.long = length == wire.MaxPayload
		n += wire.HeaderSize
		f.rest = min(length, len(b)-n)
		n, f.rest = n+f.rest, length-f.rest
	}
	return n, nil
}

// PassFile asks the client for its file, which the shard wants next, and passes it on. A shard that doesn't take files of
// clients has refused the statement instead: a *backend.ServerError.
func (t *Client) PassFile(c *backend.Conn) error {
	asked, seq, err := c.Stream().Payload()
	if err != nil {
		return c.Lost(true, err)
	}
	if len(asked) == 0 || asked[0] != mysql.LocalInFile_HEADER {
		defer c.Stream().Done()
		return c.Refusal(asked)
	}
	question, _ := wire.AppendPacket(nil, t.Seq, bytes.Clone(asked))
	c.Stream().Done()
	if err := t.Pass(question); err != nil {
		return err
	}
	return t.sendFile(c, seq+1)
}

// withoutFile gives the shard an empty file, and the client, who may not send
// any, an error. It isn't asked.
func (t *Client) withoutFile(c *backend.Conn) error {
	if err := c.Send([]byte{0, 0, 0, t.Scanner.NextSeq()}, backend.Nothing); err != nil {
		return err
	}
	if _, err := c.Outcome(); err != nil {
		return err
	}
	return ErrNoFile
}
