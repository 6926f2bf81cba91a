package session

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/stmt"
)

// blanks are what servers leave out at the end of a text.
const blanks = " \t\r\n"

// several runs the statements of a text one by one, each planned by itself and
// by what is declared at that moment. The client gets one answer after the other,
// all but the last saying that more follows; the first error is the last answer.
func (s *Session) several(payload []byte) error {
	defer func() { s.more, s.behind = false, nil }()
	rest := bytes.Clone(payload) // a statement may have the client send more
	for {
		end, next := stmt.First(rest[1:], s.mode)
		if end == 0 { // nothing before a semicolon is no statement
			end, next = len(rest)-1, len(rest)-1
		}
		s.more, s.failed = 1+next < len(rest), false
		piece := rest[: 1+end : 1+end]
		piece[0] = mysql.COM_QUERY // it may stand where the statement before ended
		s.behind = bytes.TrimRight(rest[len(bytes.TrimRight(piece, blanks)):], ";"+blanks)
		s.lexed.Lex(piece[1:], s.mode)
		if err := s.runText(piece); err != nil || s.failed || !s.more {
			return err
		}
		rest = rest[next:]
		s.timing.begin()
	}
}
