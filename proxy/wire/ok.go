package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// OK is the content of an OK packet.
type OK struct {
	AffectedRows uint64
	LastInsertID uint64
	Status       uint16 // SERVER_STATUS_… flags
	Warnings     uint16
	Info         []byte // for example "Rows matched: 1  Changed: 1  Warnings: 0"
	Changes      []byte // session changes for NextChange, with CLIENT_SESSION_TRACK only; empty but not nil if the server only flags that something changed
}

// ParseOK reads an OK packet, or the OK packet that ends a result set in place of an EOF. capabilities determine whether it may hold
// session changes.
func ParseOK(payload []byte, capabilities uint32) (OK, error) {
	c := cursor{b: payload}
	if h := c.u8(); h != mysql.OK_HEADER && h != mysql.EOF_HEADER {
		c.fail()
	}
	ok := OK{AffectedRows: c.lenInt(), LastInsertID: c.lenInt(), Status: c.u16(), Warnings: c.u16()}
	switch {
	case len(c.b) == 0:
	case capabilities&mysql.CLIENT_SESSION_TRACK == 0:
		ok.Info = plainInfo(c.rest())
	default:
		ok.Info = c.lenBytes()
		if ok.Status&mysql.SERVER_SESSION_STATE_CHANGED != 0 {
			ok.Changes = c.lenBytes()
		}
	}
	return ok, c.err("OK packet")
}

// plainInfo reads the info string of an OK packet without session tracking. The protocol's description says that it runs to the end
// of the packet. The servers nevertheless write a length before it, and clients expect that.
func plainInfo(b []byte) []byte {
	if v, n := LenBytes(b); n == len(b) {
		return v
	}
	return b
}

// AppendOK appends an OK packet. It omits session changes for a client that doesn't support them.
func AppendOK(dst []byte, seq byte, ok OK, capabilities uint32) ([]byte, byte) {
	return appendOK(dst, seq, mysql.OK_HEADER, ok, capabilities)
}

// AppendEnd appends the packet that ends a result set's rows. It is an EOF packet, or an OK packet with CLIENT_DEPRECATE_EOF.
func AppendEnd(dst []byte, seq byte, ok OK, capabilities uint32) ([]byte, byte) {
	if capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		return AppendEOF(dst, seq, EOF{Warnings: ok.Warnings, Status: ok.Status})
	}
	return appendOK(dst, seq, mysql.EOF_HEADER, ok, capabilities)
}

func appendOK(dst []byte, seq, header byte, ok OK, capabilities uint32) ([]byte, byte) {
	changed := capabilities&mysql.CLIENT_SESSION_TRACK != 0 && ok.Changes != nil
	ok.Status &^= mysql.SERVER_SESSION_STATE_CHANGED
	if changed {
		ok.Status |= mysql.SERVER_SESSION_STATE_CHANGED
	}
	start := len(dst)
	dst = append(Begin(dst), header)
	dst = AppendLenInt(dst, ok.AffectedRows)
	dst = AppendLenInt(dst, ok.LastInsertID)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Status)
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	if len(ok.Info) > 0 || changed {
		dst = AppendLenBytes(dst, ok.Info)
	}
	if changed {
		dst = AppendLenBytes(dst, ok.Changes)
	}
	return Finish(dst, start, seq)
}

// RebuildOK appends a copy of an OK packet with other numbers. The packet is given with its header. Everything else is copied byte
// for byte, including fields unknown to this package.
func RebuildOK(dst, packet []byte, affectedRows, lastInsertID uint64) ([]byte, error) {
	_, seq, c, err := openOK(packet)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(Begin(dst), packet[HeaderSize])
	dst = AppendLenInt(dst, affectedRows)
	dst = AppendLenInt(dst, lastInsertID)
	dst = append(dst, c.b...)
	dst, _ = Finish(dst, start, seq)
	return dst, nil
}

// PatchStatus clears and then sets status flags of an OK or EOF packet in place. The packet is given with its header.
func PatchStatus(packet []byte, clear, set uint16) error {
	at := HeaderSize + 3
	if len(packet) != HeaderSize+eofSize || packet[HeaderSize] != mysql.EOF_HEADER {
		var err error
		if at, _, _, err = openOK(packet); err != nil {
			return err
		}
	}
	status := binary.LittleEndian.Uint16(packet[at:])
	binary.LittleEndian.PutUint16(packet[at:], status&^clear|set)
	return nil
}

// openOK finds the status flags of an OK packet, given with its header. The cursor is positioned there too.
func openOK(packet []byte) (at int, seq byte, c cursor, err error) {
	c = cursor{b: packet}
	c.take(3)
	seq = c.u8()
	if h := c.u8(); h != mysql.OK_HEADER && h != mysql.EOF_HEADER {
		c.fail()
	}
	c.lenInt()
	c.lenInt()
	at = len(packet) - len(c.b)
	if len(c.b) < 4 {
		c.fail()
	}
	return at, seq, c, c.err("OK packet")
}
