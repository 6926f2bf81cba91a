package plan

import (
	"bytes"
	"errors"

	"locus/router/stmt"
)

// fallback plans a text that the parser refuses. The server may know it: if no
// declared table is named in it, it goes to the first shard as it is, and the
// server answers in its own words.
func fallback(l *stmt.Lexed, ctx Context, reason error) (*Plan, error) {
	var syntax *stmt.SyntaxError
	if !errors.As(reason, &syntax) {
		return nil, reason
	}
	mention := ""
	stateful := false
	l.Words(func(word []byte) {
		w := string(bytes.ToLower(bytes.Trim(word, "`\"")))
		switch {
		case ctx.Catalog.MentionsName(w):
			mention = w
		case w != "" && w[0] == '@', w == "xa", w == "handler", w == "get_lock", w == "temporary":
			stateful = true
		}
	})
	switch {
	case mention != "":
		return nil, refuse(Unreadable, "%s; it names the declared table %s, so it can't be passed on unread", syntax.Error(), mention)
	case stateful:
		return nil, refuse(Unsupported, "%s; it may change the state of a connection, so it can't be passed on unread", syntax.Error())
	}
	return &Plan{Place: Fixed, Shard: ctx.Catalog.First(), Writes: true, KeepsInsertID: true, Statement: &stmt.Statement{Kind: stmt.Other}}, nil
}

func beginsWithCreate(l *stmt.Lexed) bool {
	first := ""
	l.Words(func(word []byte) {
		if first == "" {
			first = string(bytes.ToLower(word))
		}
	})
	return first == "create"
}
