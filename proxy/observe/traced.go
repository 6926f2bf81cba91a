package observe

import (
	"slices"
	"strings"

	"locus/proxy/trace"
	"locus/router/plan"
	"locus/router/stmt"
)

// Read records that the statement's text was lexed, and decides whether it is traced. Nothing is traced before.
func (s *Session) Read(l *stmt.Lexed) {
	if s.services.Tracer == nil {
		return
	}
	t := s.services.Tracer.Begin(l.Comments())
	if t == nil {
		return
	}
	digest := l.Digest(DigestText)
	t.Began = epoch.Add(s.began)
	t.Known = trace.Known{
		Flavor: s.now().Flavor, Hash: digest.Hash, Text: digest.Text, Operation: firstWord(digest.Text),
		Database: s.vars.Settings.Database(), User: s.activity.user, Client: s.host,
	}
	s.trace = t
}

func firstWord(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end < 0 {
		end = len(text)
	}
	return strings.ToUpper(text[:end])
}

// endTrace completes the statement's trace. err is the error that ends the session, or nil.
func (s *Session) endTrace(err error) {
	t := s.trace
	if t == nil {
		return
	}
	s.trace = nil
	t.Cut = err != nil
	t.Waited, t.Held = s.waited, s.held
	for _, shard := range s.shards {
		t.Shards = append(t.Shards, string(shard))
	}
	t.End()
}

// noteOutcome adds the result of a planned statement to its trace.
func (s *Session) noteOutcome(p plan.Plan, failed bool) {
	t := s.trace
	t.Route, t.Tables, t.Rows = p.String(), tablesOf(p.About().Statement), s.rowsOf(p.About(), failed)
	if s.Failed && t.Code == 0 {
		t.Code, _ = s.client.Scanner.ErrCode() // the answer was relayed unchanged
	}
}

// tablesOf returns the distinct tables that a statement names.
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
