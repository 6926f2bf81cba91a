package session

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// spreadViews creates views on the shards that lack them if they name a view that has just become available on every shard. A dump creates
// its views in the order of their names, over placeholders for later views. A placeholder reads nothing and is on the default shard alone,
// and so are views over it. The view itself was created, so a failure is a warning.
func (s *Session) spreadViews(r *exec.Request, e exec.Defined) {
	st := r.Facts.Statement
	if !st.View || st.Verb != "CREATE" || e.Err != nil || len(e.Done) == 0 || s.Redefined == nil {
		return
	}
	next := []catalog.TableName{s.env.FullName(r.Work, st.Tables[0])}
	for len(next) > 0 {
		lagging := s.Snapshot().Catalog.Lagging(next[0])
		next = next[1:]
		for _, view := range lagging {
			if err := s.spreadView(r, view); err != nil {
				s.vars.Warn("the view is made, and view " + view.String() + ", which reads it, is not on every shard: " + s.clientError(err).Message + "; CREATE OR REPLACE it")
				return
			}
		}
		if lagging != nil {
			s.reread(catalog.Change{Tables: lagging})
		}
		next = append(next, lagging...)
	}
}

// spreadView creates a view on the shards where it differs from that of the default shard.
func (s *Session) spreadView(r *exec.Request, view catalog.TableName) error {
	rows, err := r.Ask(r.Catalog.First(), backend.Default, "SHOW CREATE VIEW "+plan.Quote(view.Schema)+"."+plan.Quote(view.Name))
	if err != nil {
		return err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) < 4 || !strings.HasPrefix(string(rows.Rows[0][1]), "CREATE ") {
		return undeclarable("shard %s says how it is made in a way that isn't known", r.Catalog.First())
	}
	row := rows.Rows[0]
	under := backend.Default.WithNames(string(row[2]), string(row[3])) // texts in it mean what they meant
	for _, shard := range r.Catalog.Shards {
		if slices.Contains(s.Snapshot().Catalog.On(view), shard) {
			continue
		}
		if err := s.makeView(r, shard, under, string(row[1])); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) makeView(r *exec.Request, shard router.ShardName, under *backend.Settings, text string) error {
	l, err := r.Apart(shard, under)
	if err != nil {
		return err
	}
	if _, err := l.Conn.Own().Exec(s.interrupts.Waits(), text); err != nil {
		l.Fail(err)
		return err
	}
	l.Done(l.Conn.Status())
	return nil
}
