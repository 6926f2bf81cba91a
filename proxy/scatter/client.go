package scatter

import (
	"fmt"
	"sync"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/plan"
)

const (
	bufferSize = 32 << 10 // buffer for packets to the client, in bytes
	direct     = 16 << 10 // longer rows aren't copied into the buffer
)

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, bufferSize+direct+1<<10)
	return &b
}}

// output collects packets for the client and sends them once there are enough. Until then they can be discarded.
type output struct {
	*reply.Client
	Options
	seq    byte // number of the next packet
	buffer *[]byte
	out    []byte
	sent   bool // packets may have reached the client
	held   bool // nothing is sent before finish is called
	rows   uint64
}

func newOutput(to *reply.Client, as Options) output {
	buffer := buffers.Get().(*[]byte)
	return output{Client: to, Options: as, seq: to.Seq, buffer: buffer, out: (*buffer)[:0]}
}

// release returns the buffer to its pool, unless a large result set header has replaced it.
func (o *output) release() {
	buffers.Put(o.buffer)
	o.buffer, o.out = nil, nil
}

// head appends the column definitions.
func (o *output) head(definitions [][]byte) {
	o.columnCount(len(definitions))
	for _, d := range definitions {
		o.definition(d)
	}
	o.endDefinitions()
}

// definition appends a column definition.
func (o *output) definition(payload []byte) {
	o.out, o.seq = wire.AppendPacket(o.out, o.seq, payload)
}

func (o *output) columnCount(n int) {
	o.out, o.seq = wire.AppendColumnCount(o.out, o.seq, n)
}

// endDefinitions appends the packet between definitions and rows, if any.
func (o *output) endDefinitions() {
	if o.Capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		o.out, o.seq = wire.AppendEOF(o.out, o.seq, wire.EOF{Status: o.Status})
	}
}

// row appends a row unchanged.
func (o *output) row(payload []byte) error {
	o.rows++
	if len(payload) < direct || o.held {
		o.out, o.seq = wire.AppendPacket(o.out, o.seq, payload)
		return o.flushFull()
	}
	if err := o.flush(); err != nil {
		return err
	}
	var err error
	if o.seq, err = o.Stream.WritePayload(o.seq, payload); err != nil {
		return &ClientError{err}
	}
	return nil
}

func (o *output) binaryRow(values [][]byte, types []byte) error {
	o.rows++
	o.out, o.seq = wire.AppendBinaryRow(o.out, o.seq, values, types)
	return o.flushFull()
}

func (o *output) textRow(values [][]byte) error {
	o.rows++
	o.out, o.seq = wire.AppendTextRow(o.out, o.seq, values)
	return o.flushFull()
}

func (o *output) flushFull() error {
	switch {
	case o.held && int64(len(o.out)) > o.MostHeld:
		return &plan.Refusal{Code: plan.GatherLimit, Message: fmt.Sprintf("the rows that RETURNING returns have more than %d bytes: change fewer rows at a time", o.MostHeld)}
	case o.held, len(o.out) < bufferSize:
		return nil
	}
	return o.flush()
}

func (o *output) flush() error {
	o.sent = true
	if len(o.out) == 0 {
		return nil
	}
	_, err := o.Stream.Write(o.out)
	if cap(o.out) > cap(*o.buffer) {
		o.out = *o.buffer
	}
	o.out = o.out[:0]
	if err != nil {
		return &ClientError{err}
	}
	return nil
}

// finish ends the rows.
func (o *output) finish(warnings int) error {
	ok := wire.OK{Warnings: uint16(min(warnings+o.Warnings, 1<<16-1)), Status: o.Status}
	o.out, o.seq = wire.AppendEnd(o.out, o.seq, ok, o.Capabilities)
	return o.flush()
}

// finishWith ends the rows with an error.
func (o *output) finishWith(e *mysql.MyError) error {
	o.out, o.seq = wire.AppendERR(o.out, o.seq, e, o.Capabilities)
	return o.flush()
}
