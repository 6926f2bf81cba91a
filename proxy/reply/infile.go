package reply

import (
	"bytes"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/stream"
	"locus/proxy/wire"
)

// LOAD DATA LOCAL: the shard requests a file in the middle of its answer. The proxy passes the request to the client, which sends the file in
// packets of any length, the last one empty. They are forwarded as their bytes arrive. The shard answers only after the last packet, so the two
// sides can't deadlock.

// file is the state of a client's file in transfer to a shard.
type file struct {
	next byte // number of the next packet from the client
	rest int  // bytes of the current packet that have not arrived
	long bool // the last packet is continued by the next
	last bool // the empty packet at the end has arrived
	// unnumbered means that the client's packet numbers must be ignored.
	unnumbered bool
}

// sendFile forwards the client's file to the shard, after the client got the request. next is the packet number that the shard expects. If the
// shard fails, sendFile still reads the client's file to the end, because the client reads no answer before that.
func (t *Client) sendFile(c *backend.Conn, next byte) error {
	t.Stream.Done() // the command, which is no longer needed
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
			if err := t.Stream.More(); err != nil {
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

// take processes the packets in b and renumbers them for the shard. It returns how many bytes to forward.
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

// PassFile requests the client's file for the shard and forwards it. If the shard doesn't accept local files, it has refused the statement
// instead, and PassFile returns a *backend.ServerError.
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

// refuseFile sends the shard an empty file and reads its answer. It returns ErrNoFile, because the client may not send files and gets no request.
func (t *Client) refuseFile(c *backend.Conn) error {
	if err := c.Send([]byte{0, 0, 0, t.Scanner.NextSeq()}, backend.Nothing); err != nil {
		return err
	}
	if _, err := c.Outcome(); err != nil {
		return err
	}
	return ErrNoFile
}
