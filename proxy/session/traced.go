package session

import (
	"slices"
	"strings"

	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/stmt"
)

// beginTrace decides whether the statement is traced; before that nothing is done for
// it.
func (s *Session) beginTrace(l *stmt.Lexed) {
	if s.Tracer == nil {
		return
	}
	t := s.Tracer.Begin(l.Comments())
	if t == nil {
		return
	}
	digest := l.Digest(digestText)
	t.Began = epoch.Add(s.timing.began)
	t.Known = trace.Known{
		Flavor: s.flavor(), Hash: digest.Hash, Text: digest.Text, Operation: firstWord(digest.Text),
		Database: s.vars.Settings.Database(), User: s.user, Client: s.host,
	}
	s.timing.trace = t
}

func firstWord(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:end])
}

// endTrace hands on what was noted of the statement; err is what ends the session.
func (s *Session) endTrace(err error) {
	t := s.timing.trace
	if t == nil {
		return
	}
	s.timing.trace = nil
	t.Cut = err != nil
	t.Waited, t.Held = s.timing.waited, s.timing.held
	for _, shard := range s.timing.shards {
		t.Shards = append(t.Shards, string(shard))
	}
	t.End()
}

// noteOutcome notes what a statement that was planned came to.
func (s *Session) noteOutcome(r *request, failed bool) {
	t := s.timing.trace
	t.Route, t.Tables, t.Rows = r.plan.String(), tablesOf(r.facts.Statement), s.rowsOf(r.facts, failed)
	if s.failed && t.Code == 0 {
		t.Code, _ = s.client.Scanner.ErrCode() // it went to the client as it came
	}
}

// tablesOf names the tables that a statement names, each once.
func tablesOf(st *stmt.Statement) []string {
	var names []string
	add := func(n stmt.TableName) {
		name := n.Name
		if n.Schema != "" {
			name = n.Schema + "." + n.Name
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if st.Insert != nil {
		add(st.Insert.Table)
	}
	for _, b := range st.Blocks {
		for _, t := range b.Tables {
			if !t.Derived {
				add(t.TableName)
			}
		}
	}
	for _, t := range st.Tables {
		add(t)
	}
	return names
}

// sentTo notes that a connection was sent a part of the statement.
func (s *Session) sentTo(l txn.Lease) {
	s.timing.sentTo(l.Shard)
	if t := s.timing.trace; t != nil {
		t.Sent(string(l.Shard), l.Conn.Stream().NetConn().RemoteAddr().String())
	}
}

// answered notes that the answer that was relayed is over.
func (s *Session) answered(shard router.ShardName) {
	if t := s.timing.trace; t != nil {
		code, _ := s.client.Scanner.ErrCode()
		t.Answered(string(shard), uint64(s.client.Scanner.Rows()), code)
	}
}
