package observe

import (
	"time"

	"locus/proxy/meter"
	"locus/router/plan"
	"locus/router/stmt"
)

// SetDigest sets the digest under which the plan's statements are counted. It is called before the plan is shared.
func (s *Session) SetDigest(l *stmt.Lexed, p plan.Plan) {
	if p != nil {
		facts := p.About()
		facts.Figures, _ = s.digestOf(l, facts)
	}
}

// digestOf returns the digest of a text, or nil if the text is counted together with others.
func (s *Session) digestOf(l *stmt.Lexed, p *plan.Facts) (*meter.Digest, meter.Kind) {
	text, hash := l.AppendDigest(s.digest)
	s.digest = text[:0]
	k := kindOfWord(text)
	if p != nil {
		k = kindOf(p)
	}
	return s.services.Meter.Statements.Find(s.vars.Settings.Database(), hash, k, func() (string, []string) {
		var tables []string
		if p != nil {
			tables = tablesOf(p.Statement)
		}
		return string(stmt.DigestText(text, DigestText)), tables
	}), k
}

// Ended records that a statement was answered. err is the error that ends the session, or nil.
func (s *Session) Ended(l *stmt.Lexed, err error) {
	s.endTrace(err)
	t, at := s.Notes, time.Since(epoch)
	r := meter.Run{
		Lane: s.id, Shard: t.shardLabel(), User: s.activity.user, Shards: len(t.shards), Gathered: t.gathered, Copied: t.copied, Keyed: t.keyed, Took: at - t.began, Waited: t.waited, Held: t.held,
		Failed: err != nil || t.code != 0, Code: t.code, At: at,
	}
	d := (*meter.Digest)(nil)
	if p := t.plan; p != nil {
		d, _ = p.Figures.(*meter.Digest)
		r.Kind, r.Rows = kindOf(p), s.rowsOf(p, r.Failed)
	}
	if d == nil {
		d, r.Kind = s.digestOf(l, t.plan)
	}
	t.plan = nil
	s.services.Meter.Ran(d, &r)
}

// shardLabel returns the shard to which the statement was sent, or a label if there is not exactly one.
func (n *Notes) shardLabel() string {
	switch len(n.shards) {
	case 0:
		return meter.NoShard
	case 1:
		return string(n.shards[0])
	}
	return meter.SeveralShards
}

// kindOf returns the kind of a planned statement.
func kindOf(p *plan.Facts) meter.Kind {
	switch p.Statement.Kind {
	case stmt.Select:
		return meter.Select
	case stmt.Insert:
		return meter.Insert
	case stmt.Replace:
		return meter.Replace
	case stmt.Update:
		return meter.Update
	case stmt.Delete:
		return meter.Delete
	case stmt.LoadData:
		return meter.LoadFile
	case stmt.Call, stmt.Procedure:
		return meter.Call
	case stmt.DDL, stmt.CreateSchema:
		return meter.Definition
	case stmt.Begin:
		return meter.Begin
	case stmt.Commit:
		return meter.Commit
	case stmt.Rollback:
		return meter.Rollback
	case stmt.Set:
		return meter.Set
	case stmt.Show, stmt.ShowWarnings, stmt.Explain:
		return meter.Show
	case stmt.Other, stmt.Savepoint, stmt.Use, stmt.Kill, stmt.Lock, stmt.Unlock, stmt.TextPrepare, stmt.Handler, stmt.Account,
		stmt.Admin, stmt.XA, stmt.Diagnose, stmt.LockServers:
	}
	return meter.Other
}

// verbs maps first words to the kinds of statements that could not be planned.
var verbs = map[string]meter.Kind{
	"SELECT": meter.Select, "WITH": meter.Select, "INSERT": meter.Insert, "REPLACE": meter.Replace, "UPDATE": meter.Update, "DELETE": meter.Delete,
	"LOAD": meter.LoadFile, "CALL": meter.Call, "CREATE": meter.Definition, "ALTER": meter.Definition, "DROP": meter.Definition, "TRUNCATE": meter.Definition,
	"RENAME": meter.Definition, "SET": meter.Set, "SHOW": meter.Show, "DESCRIBE": meter.Show, "DESC": meter.Show, "EXPLAIN": meter.Show,
}

func kindOfWord(text []byte) meter.Kind { return verbs[firstWord(string(text[:min(len(text), 16)]))] }
