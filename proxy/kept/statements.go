package kept

import (
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// most is the largest number of a session's statements, by number and by name together. It also limits their memory.
const most = 4096

// Error codes for which the library has no name.
const erUnknownStmt = 1243

// Statements contains the statements that a client has prepared and not closed, by number and by PREPARE's name. Only the session's goroutine
// uses it.
type Statements struct {
	share    *Share
	longest  int           // longest parameter, in bytes
	open     *atomic.Int64 // statements of all sessions
	last     uint32
	recent   *Statement // the one to which the number recentID refers, or nil
	byNumber map[uint32]*Statement
	byName   map[string]*Text
}

// NewStatements returns an empty list. longest is the largest size in bytes of a parameter's value. open counts the statements of all sessions.
func NewStatements(share *Share, longest int, open *atomic.Int64) *Statements {
	return &Statements{share: share, longest: longest, open: open}
}

// Full returns an error if no further statement can be prepared by number.
func (l *Statements) Full() error {
	if len(l.byNumber) < most {
		return nil
	}
	return tooMany()
}

func tooMany() error {
	return wire.Errorf(mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED, "42000", "this session has %d prepared statements: close some", most)
}

// Hold counts a statement's bytes before it is known whether the statement can be prepared. Release reverts that unless the statement was added.
func (l *Statements) Hold(p *Statement) error {
	n := p.size()
	if err := l.share.Take(n); err != nil {
		return err
	}
	p.held = n
	return nil
}

// Release subtracts the bytes of a statement that was not added.
func (l *Statements) Release(p *Statement) {
	if p.ID == 0 {
		l.share.Give(p.held)
	}
}

// Add assigns a statement its number.
func (l *Statements) Add(p *Statement) {
	l.last++
	p.ID = l.last
	if l.byNumber == nil {
		l.byNumber = map[uint32]*Statement{}
	}
	l.byNumber[p.ID] = p
	l.open.Add(1)
}

// recentID is the number by which clients of MariaDB refer to the statement that was prepared last. They send it with an execution before
// they have received the statement's number.
const recentID = 1<<32 - 1

// SetRecent sets the statement that was prepared last. It is nil after a failure.
func (l *Statements) SetRecent(p *Statement) { l.recent = p }

func (l *Statements) numbered(id uint32) *Statement {
	if id == recentID {
		return l.recent
	}
	return l.byNumber[id]
}

// Find returns the statement to which a command refers.
func (l *Statements) Find(payload []byte) (*Statement, error) {
	id, err := wire.ParseStatement(payload)
	if err != nil {
		return nil, wire.Errorf(wire.ErMalformed, wire.StateGeneral, "%v", err)
	}
	p := l.numbered(id)
	if p == nil {
		return nil, wire.Errorf(erUnknownStmt, wire.StateGeneral, "Unknown prepared statement handler (%d) given to %s", id, wire.CommandName(payload[0]))
	}
	return p, nil
}

// Close removes a statement and closes its cursor.
func (l *Statements) Close(p *Statement) {
	p.Cursor.Close()
	l.ForgetLong(p)
	l.share.Give(p.held)
	delete(l.byNumber, p.ID)
	if l.recent == p {
		l.recent = nil
	}
	l.open.Add(-1)
}

// Reset removes all statements. txn.Connections.Reset closes their cursors.
func (l *Statements) Reset() {
	l.open.Add(-int64(len(l.byNumber)))
	for _, p := range l.byNumber {
		l.ForgetLong(p)
		l.share.Give(p.held)
	}
	clear(l.byNumber)
	l.recent = nil
	for name := range l.byName {
		l.Forget(name)
	}
}

// sliceSize is the size in bytes that is counted for one more empty value.
const sliceSize = 24

// Lengthen appends a piece to a parameter's value. If the value gets too long, the execution will fail. A piece for an unknown parameter is
// ignored.
func (l *Statements) Lengthen(data wire.LongData) {
	p := l.numbered(data.Statement)
	if p == nil || int(data.Param) >= p.Given() || p.TooLong != nil {
		return
	}
	if err := l.lengthen(p, int(data.Param), data.Piece); err != nil {
		l.ForgetLong(p)
		p.TooLong = err
	}
}

func (l *Statements) lengthen(p *Statement, param int, piece []byte) error {
	n := len(piece) + sliceSize*max(0, param+1-len(p.Long))
	if err := l.share.Take(n); err != nil {
		return err
	}
	p.longHeld += n
	if p.longHeld-sliceSize*max(param+1, len(p.Long)) > l.longest {
		return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
	}
	for len(p.Long) <= param {
		p.Long = append(p.Long, nil)
	}
	if p.Long[param] == nil {
		p.Long[param] = []byte{}
	}
	p.Long[param] = append(p.Long[param], piece...)
	return nil
}

// ForgetLong drops the values that were sent in pieces.
func (l *Statements) ForgetLong(p *Statement) {
	if p.longHeld == 0 && p.TooLong == nil {
		return
	}
	l.share.Give(p.longHeld)
	p.Long, p.longHeld, p.TooLong = nil, 0, nil
}
