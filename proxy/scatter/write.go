package scatter

import (
	"bytes"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// Result is one connection's answer to a write.
type Result struct {
	OK wire.OK // if Err is nil
	// Err is a *mysql.MyError, after which the connection goes on working, or a
	// *backend.LostError, after which the effect is unknown.
	Err error
}

// Write reads the answer to a statement without rows from every connection,
// whatever the others say, and tells each connection its status.
func Write(conns []*backend.Conn) []Result {
	results := make([]Result, len(conns))
	for i, c := range conns {
		results[i].OK, results[i].Err = written(c)
		if results[i].Err == nil {
			c.SetStatus(results[i].OK.Status)
		}
	}
	return results
}

var errNoOK = errors.New("the answer to a write is neither OK nor an error")

func written(from source) (wire.OK, error) {
	payload, _, err := from.Stream().Payload()
	if err != nil {
		return wire.OK{}, from.Lost(true, err)
	}
	defer from.Stream().Done()
	switch {
	case wire.IsERR(payload):
		return wire.OK{}, refusal(from, payload)
	case len(payload) == 0 || payload[0] != mysql.OK_HEADER:
		return wire.OK{}, from.Lost(true, errNoOK)
	}
	ok, err := wire.ParseOK(payload, backend.Capabilities)
	switch {
	case err != nil:
		return wire.OK{}, from.Lost(true, err)
	case ok.Status&mysql.SERVER_MORE_RESULTS_EXISTS != 0:
		return wire.OK{}, from.Lost(true, errNoOK)
	}
	ok.Info, ok.Changes = bytes.Clone(ok.Info), bytes.Clone(ok.Changes)
	return ok, nil
}

// refusal reads an ERR packet.
func refusal(from source, payload []byte) error {
	e, err := wire.ParseERR(payload)
	if err != nil {
		return from.Lost(true, err)
	}
	return e
}
