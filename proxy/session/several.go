package session

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

// blanks contains the characters that servers remove from the end of a text.
const blanks = " \t\r\n"

// several runs the statements of a text one after the other. Each is planned by itself, under the declarations of that moment.
// The client gets one answer for each. All answers but the last have the flag for further results. The first error is the last
// answer.
func (s *Session) several(payload []byte) error {
	defer func() { s.client.More, s.behind = false, nil }()
	rest := bytes.Clone(payload) // a statement may make the client send further packets
	last := len(bytes.TrimRight(rest, ";"+blanks))
	for {
		end, next := stmt.First(rest[1:], s.vars.Mode)
		if end == 0 { // an empty text before a semicolon is no statement
			end, next = len(rest)-1, len(rest)-1
		}
		s.client.More, s.observer.Failed = 1+next < len(rest), false
		piece := rest[: 1+end : 1+end]
		if s.client.More && stmt.Blank(piece[1:]) { // servers reject a statement that is only a comment
			return s.writeError(s.syntaxError(plan.Near{Text: string(bytes.TrimRight(rest[1+end:], ";"+blanks)), Line: 1 + bytes.Count(piece, []byte("\n"))}))
		}
		piece[0] = mysql.COM_QUERY // this byte may have been the end of the previous statement
		from := len(bytes.TrimRight(piece, blanks))
		s.behind = rest[from:max(from, last)]
		if err := s.read(&s.lexed, piece[1:]); err != nil {
			return s.writeError(err)
		}
		if err := s.runText(piece); err != nil || s.observer.Failed || !s.client.More {
			return err
		}
		rest, last = rest[next:], last-next
		s.observer.BeginStatement()
	}
}
