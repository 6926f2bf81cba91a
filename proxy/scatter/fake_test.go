package scatter

import (
	"errors"
	"io"
	"net"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// fakeShard is a connection on which an answer is under way.
type fakeShard struct {
	name   router.ShardName
	stream *stream.Conn
	near   net.Conn
	wrote  chan int // how much of the answer was taken, once its writer ended
	lost   bool
}

func (f *fakeShard) Stream() *stream.Conn { return f.stream }
func (f *fakeShard) Refusal(payload []byte) error {
	e, err := wire.ParseERR(payload)
	if err != nil {
		return f.Lost(true, err)
	}
	return e
}

func (s *fakeShard) ParseColumn(payload []byte) (wire.Column, error) {
	return wire.ParseColumn(payload)
}
func (f *fakeShard) Shard() router.ShardName { return f.name }
func (f *fakeShard) Lost(sent bool, cause error) *backend.LostError {
	f.lost = true
	return &backend.LostError{Shard: f.name, Sent: sent, Err: cause}
}

// newShard starts a shard that writes an answer in chunks of the given sizes, in
// turn; then it stays silent, or hangs up.
func newShard(name string, answer []byte, chunks []int, hangUp bool) *fakeShard {
	near, far := net.Pipe()
	f := &fakeShard{name: router.ShardName(name), near: near, stream: stream.New(near), wrote: make(chan int, 1)}
	go func() {
		n := 0
		for i := 0; n < len(answer); i++ {
			size := min(len(answer)-n, chunks[i%len(chunks)])
			m, err := far.Write(answer[n : n+size])
			n += m
			if err != nil {
				break
			}
		}
		if hangUp {
			_ = far.Close()
		}
		f.wrote <- n
	}()
	return f
}

func (f *fakeShard) close() int {
	_ = f.near.Close()
	return <-f.wrote
}

const testStatus = mysql.SERVER_STATUS_AUTOCOMMIT

// result builds a shard's answer.
func result(columns []wire.Column, format Format, rows [][][]byte, end wire.EOF) []byte {
	out, seq := wire.AppendColumnCount(nil, 1, len(columns))
	var types []byte
	for _, c := range columns {
		out, seq = wire.AppendColumn(out, seq, c)
		types = append(types, c.Type)
	}
	out, seq = wire.AppendEOF(out, seq, wire.EOF{})
	for _, row := range rows {
		if format == Binary {
			out, seq = wire.AppendBinaryRow(out, seq, row, types)
		} else {
			out, seq = wire.AppendTextRow(out, seq, row)
		}
	}
	out, _ = wire.AppendEOF(out, seq, end)
	return out
}

// received is an answer as a client reads it.
type received struct {
	columns []wire.Column
	rows    [][]string // "NULL" or the value's bytes, quoted by a bar in front
	end     wire.EOF
	err     *mysql.MyError
	cut     error // the stream ended before the answer
}

// receive reads one answer and checks the sequence numbers.
func receive(c net.Conn, format Format, capabilities uint32) (r received) {
	s, next := stream.New(c), byte(1)
	payload := func() []byte {
		p, seq, err := s.Payload()
		if err != nil {
			r.cut = err
			return nil
		}
		next += byte(len(p) / wire.MaxPayload)
		if seq != next {
			r.cut = errors.New("packets out of order")
			return nil
		}
		next++
		p = append([]byte(nil), p...)
		s.Done()
		return p
	}
	head := payload()
	if r.cut != nil {
		return r
	}
	n, _ := wire.LenInt(head)
	var types []byte
	for range n {
		c, err := wire.ParseColumn(payload())
		if err != nil {
			r.cut = err
			return r
		}
		r.columns = append(r.columns, c)
		types = append(types, c.Type)
	}
	if capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 && !wire.IsEOF(payload()) {
		r.cut = errors.New("no EOF behind the definitions")
		return r
	}
	for {
		p := payload()
		switch {
		case r.cut != nil:
			return r
		case wire.IsERR(p):
			r.err, r.cut = wire.ParseERR(p)
			return r
		case capabilities&mysql.CLIENT_DEPRECATE_EOF != 0 && p[0] == mysql.EOF_HEADER && len(p) < wire.MaxPayload:
			ok, err := wire.ParseOK(p, capabilities)
			r.end, r.cut = wire.EOF{Warnings: ok.Warnings, Status: ok.Status}, err
			return r
		case capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 && wire.IsEOF(p):
			r.end, r.cut = wire.ParseEOF(p)
			return r
		}
		var values [][]byte
		var err error
		if format == Binary {
			values, err = wire.SplitBinaryRow(nil, p, types)
		} else {
			values, err = wire.SplitTextRow(nil, p, len(types))
		}
		if err != nil {
			r.cut = err
			return r
		}
		r.rows = append(r.rows, shown(values))
	}
}

func shown(values [][]byte) []string {
	var row []string
	for _, v := range values {
		if v == nil {
			row = append(row, "NULL")
		} else {
			row = append(row, "|"+string(v))
		}
	}
	return row
}

// collect calls write and returns what a client reads.
func collect(format Format, write func(*reply.Client, Options) (Outcome, error)) (received, Outcome, error) {
	return collectAs(format, 0, write)
}

func collectAs(format Format, capabilities uint32, write func(*reply.Client, Options) (Outcome, error)) (received, Outcome, error) {
	near, far := net.Pipe()
	got := make(chan received, 1)
	go func() {
		r := receive(far, format, capabilities)
		_, _ = io.Copy(io.Discard, far)
		got <- r
	}()
	o, err := write(&reply.Client{Stream: stream.New(near), Seq: 1, Capabilities: capabilities}, Options{Status: testStatus})
	_ = near.Close()
	return <-got, o, err
}

// run merges the shards' answers and returns what a client reads.
func run(shards []*fakeShard, m *plan.Merge, format Format, limit plan.Window, capabilities uint32) (received, Outcome, error) {
	list := sources(shards)
	return collectAs(format, capabilities, func(to *reply.Client, as Options) (Outcome, error) { return merge(list, m, format, limit, to, as) })
}

func closeAll(t testing.TB, shards []*fakeShard) {
	t.Helper()
	for _, s := range shards {
		s.close()
	}
}
