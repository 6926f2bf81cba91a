package fakeshard

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Command is a received command. A query is its text. Other commands have their name in brackets.
type Command struct {
	Thread uint32 // the connection's number
	Text   string
}

// Heard returns the commands received since the last call.
func (s *Server) Heard() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := s.heard
	s.heard = nil
	return heard
}

// hears records a command.
func (c *conn) hears(format string, args ...any) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, Command{c.thread, fmt.Sprintf(format, args...)})
	s.hearing.Broadcast()
}

// AwaitHeard waits until Heard would return a command with this prefix, and reports whether one arrived in
// time.
func (s *Server) AwaitHeard(prefix string, within time.Duration) bool {
	late := false
	end := time.AfterFunc(within, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.hearing.Broadcast()
	})
	defer end.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !late && !slices.ContainsFunc(s.heard, func(c Command) bool { return strings.HasPrefix(c.Text, prefix) }) {
		s.hearing.Wait()
	}
	return !late
}

// statement is a prepared statement of a connection.
type statement struct {
	text   string
	params int
	types  []byte   // the types that were sent with the last execution
	long   [][]byte // values sent before the execution as long data
	rows   [][]string
	kinds  []byte // the types of the columns while a cursor is open
}

// executed parses an execution, and returns its values as SQL literals.
func (st *statement) executed(payload []byte) (e wire.Execute, values string, err error) {
	e, err = wire.ParseExecute(payload, wire.Known{Params: st.params, Types: st.types, Long: st.long}, nil)
	if err != nil {
		return e, "", err
	}
	st.types, st.long = append([]byte(nil), e.Types...), nil
	spelled := make([]string, len(e.Params))
	for i, p := range e.Params {
		spelled[i] = spell(p)
	}
	return e, strings.Join(spelled, ", "), nil
}

// spell returns a parameter's value as an SQL literal.
func spell(p wire.Param) string {
	switch {
	case p.Value == nil:
		return "NULL"
	case p.Type == mysql.MYSQL_TYPE_TINY, p.Type == mysql.MYSQL_TYPE_SHORT, p.Type == mysql.MYSQL_TYPE_LONG, p.Type == mysql.MYSQL_TYPE_LONGLONG:
		return strconv.FormatInt(wire.Int(p.Value), 10)
	case len(p.Value) > 100:
		return fmt.Sprintf("'%s…' of %d bytes", p.Value[:10], len(p.Value))
	}
	return "'" + string(p.Value) + "'"
}

// binaryValue converts a text to the binary protocol's form of a column type.
func binaryValue(text string, typ byte) []byte {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && typ == mysql.MYSQL_TYPE_LONGLONG {
		return binary.LittleEndian.AppendUint64(nil, uint64(n))
	}
	return []byte(text)
}
