package stmt

import (
	"strconv"
	"strings"
)

// Killing is the operand of KILL.
type Killing struct {
	// ID is a connection's ID. Own means the session's own, CONNECTION_ID().
	ID  uint64
	Own bool
	// Expression is an expression that a server must compute, in place of a number.
	Expression string
	// Query means that only the statement is killed, not the connection.
	Query bool
}

// readKill reads both servers' forms of KILL: KILL [HARD | SOFT] [CONNECTION | QUERY] id. The parser doesn't support
// one of them. It returns false for other statements and for other forms, since it doesn't compute functions.
func readKill(l *Lexed) (*Statement, bool) {
	t := tokens{l: l}
	if first, ok := t.next(); !ok || !strings.EqualFold(string(l.Text[first.start:first.end]), "kill") {
		return nil, false
	}
	words := strings.Fields(strings.ToUpper(strings.TrimRight(strings.TrimSpace(l.readable()), "; \t\r\n")))
	if len(words) < 2 || words[0] != "KILL" {
		return nil, false
	}
	words = words[1:]
	if words[0] == "HARD" || words[0] == "SOFT" {
		words = words[1:]
	}
	k := &Killing{}
	if len(words) > 0 && (words[0] == "CONNECTION" || words[0] == "QUERY") {
		k.Query = words[0] == "QUERY"
		words = words[1:]
	}
	if len(words) == 0 || words[0] == "USER" || words[0] == "ID" && k.Query {
		return nil, false
	}
	s := &Statement{Kind: Kill, Counter: counter("kill"), Kill: k}
	if len(words) == 1 && words[0] == "CONNECTION_ID()" {
		k.Own = true
		return s, true
	}
	if id, err := strconv.ParseUint(words[0], 10, 64); err == nil && len(words) == 1 {
		k.ID = id
		return s, true
	}
	k.Expression = strings.Join(words, " ")
	return s, !strings.ContainsAny(k.Expression, "(,?;:")
}
