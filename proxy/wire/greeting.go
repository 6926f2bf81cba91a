package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// NonceSize is the length in bytes of the random challenge that a client hashes with its password.
const NonceSize = 20

// Greeting is a server's first packet (protocol 10).
type Greeting struct {
	ServerVersion string
	ConnectionID  uint32
	Nonce         [NonceSize]byte // without NUL
	Capabilities  uint32
	Collation     byte
	Status        uint16
	Plugin        string // the authentication plugin that uses the nonce
	// Extended holds MariaDB's own capabilities. A server that has any doesn't offer CLIENT_LONG_PASSWORD, which is how clients
	// recognize it.
	Extended uint32
}

// ExtendedMetadata is MARIADB_CLIENT_EXTENDED_METADATA, one of MariaDB's extended capabilities. Column definitions then describe
// their types further; see [Column].
const ExtendedMetadata = 1 << 3

// AppendGreeting appends the greeting with sequence number 0.
func AppendGreeting(dst []byte, g Greeting) ([]byte, byte) {
	start := len(dst)
	if g.Extended != 0 {
		g.Capabilities &^= mysql.CLIENT_LONG_PASSWORD
	}
	dst = append(Begin(dst), mysql.ClassicProtocolVersion)
	dst = append(append(dst, g.ServerVersion...), 0)
	dst = binary.LittleEndian.AppendUint32(dst, g.ConnectionID)
	dst = append(append(dst, g.Nonce[:8]...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities))
	dst = append(dst, g.Collation)
	dst = binary.LittleEndian.AppendUint16(dst, g.Status)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(g.Capabilities>>16))
	dst = append(dst, NonceSize+1)
	dst = appendZeros(dst, 6)
	dst = binary.LittleEndian.AppendUint32(dst, g.Extended)
	dst = append(append(dst, g.Nonce[8:]...), 0)
	if g.Capabilities&mysql.CLIENT_PLUGIN_AUTH != 0 {
		dst = append(append(dst, g.Plugin...), 0)
	}
	return Finish(dst, start, 0)
}

// AppendAuthSwitch appends a request to authenticate by another plugin, with a nonce for it.
func AppendAuthSwitch(dst []byte, seq byte, plugin string, nonce [NonceSize]byte) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), mysql.EOF_HEADER)
	dst = append(append(dst, plugin...), 0)
	dst = append(append(dst, nonce[:]...), 0)
	return Finish(dst, start, seq)
}

// AppendAuthMore appends a plugin's message to the client during authentication.
func AppendAuthMore(dst []byte, seq byte, message []byte) ([]byte, byte) {
	start := len(dst)
	dst = append(append(Begin(dst), mysql.MORE_DATE_HEADER), message...)
	return Finish(dst, start, seq)
}
