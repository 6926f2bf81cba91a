package plan

import (
	"bytes"
	"errors"

	"locus/router/stmt"
)

// fallback plans a text that the parser refuses. The server may know it: if no
// declared table is named in it, and nothing that would stay behind on the
// connection, it goes to the first shard as it is, and the server answers in
// its own words.
func fallback(l *stmt.Lexed, ctx Context, reason error) (*Plan, error) {
	var syntax *stmt.SyntaxError
	if !errors.As(reason, &syntax) {
		return nil, reason
	}
	if l.Err != nil { // no server reads on behind a quote that does not end
		return nil, refuse(Unreadable, "%s", syntax.Error())
	}
	state := ""
	first := true
	l.Words(func(word []byte) {
		w := bare(word)
		if w != "" && w[0] == '@' || stateful[w] || first && stays[w] {
			state = w
		}
		first = false
	})
	switch mention := mentioned(l, ctx); {
	case mention != "":
		return nil, refuse(Unreadable, "%s; it names the declared table %s, so it can't be passed on unread", syntax.Error(), mention)
	case state != "":
		return nil, refuse(Unsupported, "%s; with %s in it, it may depend on the connection or change its state, so it can't be passed on unread", syntax.Error(), state)
	}
	return &Plan{Place: Fixed, Shard: ctx.Catalog.First(), Writes: true, KeepsInsertID: true, Statement: &stmt.Statement{Kind: stmt.Other}}, nil
}

// bare gives a word in lower case, without quotes.
func bare(word []byte) string { return string(bytes.ToLower(bytes.Trim(word, "`\""))) }

// mentioned gives a word of the text that is the name of a declared table, or "".
func mentioned(l *stmt.Lexed, ctx Context) (name string) {
	l.Words(func(word []byte) {
		if w := bare(word); ctx.Catalog.MentionsName(w) {
			name = w
		}
	})
	return name
}

func words(list ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range list {
		out[w] = true
	}
	return out
}

// stateful are words that depend on the connection wherever they stand.
var stateful = words("get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock", "temporary",
	"last_insert_id", "found_rows", "row_count", "sql_calc_found_rows", "connection_id")

// stays are first words of statements that leave something behind: a
// transaction, a setting, a lock, a handler, an account, another binary log.
var stays = words("begin", "start", "commit", "rollback", "savepoint", "release", "set", "use", "lock", "unlock", "xa", "handler",
	"prepare", "execute", "deallocate", "kill", "shutdown", "restart", "flush", "reset", "purge", "change", "stop", "install", "uninstall",
	"grant", "revoke", "backup", "clone", "binlog", "load", "import", "cache", "signal", "resignal", "get", "delimiter")

func beginsWithCreate(l *stmt.Lexed) bool {
	first := ""
	l.Words(func(word []byte) {
		if first == "" {
			first = string(bytes.ToLower(word))
		}
	})
	return first == "create"
}
