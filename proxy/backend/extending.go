package backend

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// extending requests extended metadata from MariaDB, which the login library doesn't support. The last four reserved bytes of the
// client's first packet and the absence of CLIENT_LONG_PASSWORD request it. The server reads that first packet even if TLS follows.
type extending struct {
	net.Conn
	greeted, asked bool
	offered        uint32
}

// Offsets in the client's first packet, its header included.
const (
	claimsAt   = wire.HeaderSize
	extendedAt = wire.HeaderSize + 28
	answerSize = wire.HeaderSize + 32
)

var errNotExtended = errors.New("the server does not offer extended metadata, which the first shard's server does: all shards run the same one")

func (e *extending) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if !e.greeted && n > 0 {
		e.greeted, e.offered = true, extendedOf(b[:n])
	}
	return n, err
}

func (e *extending) Write(b []byte) (int, error) {
	if e.asked {
		return e.Conn.Write(b)
	}
	e.asked = true
	if e.offered&wire.ExtendedMetadata == 0 || len(b) < answerSize {
		return 0, errNotExtended
	}
	b = bytes.Clone(b)
	claims := binary.LittleEndian.Uint32(b[claimsAt:])
	binary.LittleEndian.PutUint32(b[claimsAt:], claims&^mysql.CLIENT_LONG_PASSWORD)
	binary.LittleEndian.PutUint32(b[extendedAt:], wire.ExtendedMetadata)
	return e.Conn.Write(b)
}

// NetConn returns the underlying connection.
func (e *extending) NetConn() net.Conn { return e.Conn }

// extendedOf reads MariaDB's own capabilities from a greeting, given with its header. It returns 0 for a server without any, and for
// an incomplete greeting.
func extendedOf(greeting []byte) uint32 {
	const beforeClaims, claimsToExtended = 4 + 8 + 1, 2 + 1 + 2 + 2 + 1 + 6
	if len(greeting) <= wire.HeaderSize {
		return 0
	}
	version := bytes.IndexByte(greeting[wire.HeaderSize+1:], 0)
	at := wire.HeaderSize + 1 + version + 1 + beforeClaims
	if version < 0 || len(greeting) < at+claimsToExtended+4 {
		return 0
	}
	if uint32(greeting[at])&mysql.CLIENT_LONG_PASSWORD != 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(greeting[at+claimsToExtended:])
}

// loggedIn returns the connection to use after the login.
func loggedIn(conn net.Conn) net.Conn {
	if e, ok := conn.(*extending); ok {
		return e.Conn
	}
	return conn
}
