package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/twophase"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// A client's own XA transaction is on the first shard, on single and undeclared tables. From XA START to its end, the session
// keeps one connection to that shard. A prepared transaction outlives the session, and the proxies would not know of it while
// genes move. So it can't use sharded and global tables.

// MySQL's error numbers for XA.
const (
	erXAOutside = 1400 // XAER_OUTSIDE
)

// ownPrefix is the prefix of the names of transactions over several shards.
const ownPrefix = "locus-"

// runXA runs XA START and the other XA statements.
func (s *Session) runXA(r *exec.Execution) error {
	b := r.Facts.Statement.Branch
	switch {
	case b.Verb == "recover" && b.Named:
		return s.recoverXA(b)
	case !s.engine.Account.Admin && (!b.Named || slices.ContainsFunc(b.Names, func(name string) bool { return strings.Contains(name, ownPrefix) })):
		return &plan.Refusal{Code: plan.Unsupported, Message: "XA of a name that begins with locus-, or that isn't a plain text: the proxies' own transactions have those, and proxies finish them; give it another name, in quotes"}
	case b.Verb == "start" && s.conns.Running() && !s.conns.Reserved(txn.GlobalTransaction):
		return wire.Errorf(erXAOutside, "XAE09", "XAER_OUTSIDE: Some work is done outside global transaction")
	}
	return r.RunOn(r.Snapshot.Catalog.First(), nil)
}

// withinXA refuses a statement that can't be a part of the client's own XA transaction.
func (s *Session) withinXA(r *exec.Execution) error {
	if !s.conns.Reserved(txn.GlobalTransaction) {
		return nil
	}
	switch st := r.Facts.Statement; st.Kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.CreateSchema, stmt.Unlock:
		return s.conns.BarredByXA()
	default:
		if st.Effects&stmt.Commits != 0 {
			return s.conns.BarredByXA()
		}
	}
	first := r.Snapshot.Catalog.First()
	shard := first
	switch p := r.Plan.(type) {
	case *plan.Local, *plan.AnyShard, *plan.Rewritten:
	case *plan.OneShard:
		shard = p.Shard
	case *plan.InsertQuery:
		shard = p.Into.Shard
	default:
		shard = ""
	}
	switch shard {
	case first:
		return nil
	case "":
		return &plan.Refusal{Code: plan.TransactionUnsafe, Message: "a sharded or global table within an XA transaction of the client's own: those are for single tables and tables that are not declared"}
	}
	return &plan.Refusal{Code: plan.TransactionUnsafe, Message: fmt.Sprintf("a table on shard %s within an XA transaction of the client's own, which is on shard %s", shard, first)}
}

// recoverXA answers XA RECOVER without the branches of the proxies' own transactions.
func (s *Session) recoverXA(b *stmt.XABranch) error {
	var rows *backend.Rows
	err := s.engine.OnFirst(s.vars.Settings, func(l txn.Lease) (err error) { // no other shard has any
		rows, err = l.Conn.Own().Query(s.ctx, "XA RECOVER "+b.Shape)
		return err
	})
	if err != nil {
		return err
	}
	var list [][]string
	for _, row := range rows.Rows {
		texts := make([]string, len(row))
		for i, value := range row {
			texts[i] = string(value)
		}
		if s.engine.Account.Admin || texts[0] != strconv.Itoa(twophase.Format) {
			list = append(list, texts)
		}
	}
	return s.engine.WriteTexts(rows.Columns, list)
}
