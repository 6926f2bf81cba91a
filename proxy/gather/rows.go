package gather

import (
	"bytes"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// Rows reads the answer to a COM_STMT_EXECUTE row by row.
type Rows struct {
	Columns []wire.Column
	// Warnings is set at the end.
	Warnings uint16

	from   *backend.Conn
	types  []byte
	values [][]byte
}

// Open reads the start of the answer. Its errors are the server's own, after which the connection remains usable, and
// *backend.LostError.
func Open(from *backend.Conn) (*Rows, error) {
	r := &Rows{from: from}
	payload, err := r.payload()
	if err != nil {
		return nil, err
	}
	n, size := wire.LenInt(payload)
	if n == 0 || size != len(payload) {
		return nil, from.Lost(true, errShape)
	}
	for range n {
		if payload, err = r.payload(); err != nil {
			return nil, err
		}
		c, err := from.ParseColumn(bytes.Clone(payload))
		if err != nil {
			return nil, from.Lost(true, err)
		}
		r.Columns, r.types = append(r.Columns, c), append(r.types, c.Type)
	}
	if payload, err = r.payload(); err != nil {
		return nil, err
	}
	if !wire.IsEOF(payload) {
		return nil, from.Lost(true, errShape)
	}
	return r, nil
}

func (r *Rows) payload() ([]byte, error) {
	stream := r.from.Stream()
	stream.Done()
	payload, _, err := stream.Payload()
	if err != nil {
		return nil, r.from.Lost(true, err)
	}
	if !wire.IsERR(payload) {
		return payload, nil
	}
	err = r.from.Refusal(payload)
	stream.Done()
	return nil, err
}

// Next returns the values of the next row, or nil at the end. They are valid until the next call.
func (r *Rows) Next() ([][]byte, error) {
	payload, err := r.payload()
	if err != nil {
		return nil, err
	}
	if wire.IsEOF(payload) {
		eof, err := wire.ParseEOF(payload)
		if err != nil {
			return nil, r.from.Lost(true, err)
		}
		r.Warnings = eof.Warnings
		r.from.SetStatus(eof.Status)
		r.from.Stream().Done()
		return nil, nil
	}
	if r.values, err = wire.SplitBinaryRow(r.values[:0], payload, r.types); err != nil {
		return nil, r.from.Lost(true, err)
	}
	return r.values, nil
}
