package session

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

// blanks are what servers leave out at the end of a text.
const blanks = " \t\r\n"

// several runs the statements of a text one by one, each planned by itself and
// by what is declared at that moment. The client gets one answer after the other,
// all but the last saying that more follows; the first error is the last answer.
func (s *Session) several(payload []byte) error {
	defer func() { s.client.More, s.behind = false, nil }()
	rest := bytes.Clone(payload) // a statement may have the client send more
	last := len(bytes.TrimRight(rest, ";"+blanks))
	for {
		end, next := stmt.First(rest[1:], s.vars.Mode)
		if end == 0 { // nothing before a semicolon is no statement
			end, next = len(rest)-1, len(rest)-1
		}
		s.client.More, s.observer.Failed = 1+next < len(rest), false
		piece := rest[: 1+end : 1+end]
		if s.client.More && stmt.Blank(piece[1:]) { // to servers a comment is no statement
			return s.writeError(s.syntaxError(plan.Near{Text: string(bytes.TrimRight(rest[1+end:], ";"+blanks)), Line: 1 + bytes.Count(piece, []byte("\n"))}))
		}
		piece[0] = mysql.COM_QUERY // it may stand where the statement before ended
		from := len(bytes.TrimRight(piece, blanks))
		s.behind = rest[from:max(from, last)]
		if err := s.read(&s.lexed, piece[1:]); err != nil {
			return s.writeError(err)
		}
		if err := s.runText(piece); err != nil || s.observer.Failed || !s.client.More {
			return err
		}
		rest, last = rest[next:], last-next
		s.observer.Next()
	}
}
