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

// Command is one that came on a connection, as a DBA would write it down: a query is its text, of other commands the name stands in
// brackets.
type Command struct {
	Thread uint32 // the connection's number
	Text   string
}

// Heard gives each command that came since the last time.
func (s *Server) Heard() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := s.heard
	s.heard = nil
	return heard
}

// hears notes a command.
func (c *conn) hears(format string, args ...any) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, Command{c.thread, fmt.Sprintf(format, args...)})
	s.hearing.Broadcast()
}

// AwaitHeard waits for a command that begins so, among those that Heard will give. It tells whether one came in time.
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

// statement is one that a connection has prepared.
type statement struct {
	text   string
	params int
	types  []byte   // as they were sent last
	long   [][]byte // sent ahead of the execution
	rows   [][]string
	kinds  []byte // the columns' types, while a cursor is open
}

// executed reads an execution, and gives its values as SQL would spell them.
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

// spell writes a parameter's value.
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

// binaryValue is a text as the binary protocol has it in a column.
func binaryValue(text string, typ byte) []byte {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && typ == mysql.MYSQL_TYPE_LONGLONG {
		return binary.LittleEndian.AppendUint64(nil, uint64(n))
	}
	return []byte(text)
}
