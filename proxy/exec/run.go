package exec

import (
	"fmt"

	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// Run runs a statement as its plan requires, and answers the client. The session itself runs the plans that concern nothing but the
// session, and definitions on all shards. A *fence.HeldError means that nothing was done, and that the statement may be run again
// under another map.
func (x *Execution) Run() error {
	x.setReadModes()
	switch p := x.Plan.(type) { // these plans are admitted later, when the genes of their rows are known
	case *plan.Read:
		return x.runRead(p)
	case *plan.Change:
		return x.runChange(p)
	case *plan.Stamped:
		return x.runStamped(p)
	case *plan.InsertQuery:
		return x.runInsertQuery(p)
	case *plan.TemporaryCopy:
		return x.runTemporaryCopy(p)
	case *plan.Load:
		return x.runLoad(p)
	}
	if err := x.mayRunNamed(); err != nil {
		return err
	}
	if err := x.AdmitUnsharded(); err != nil {
		return err
	}
	switch p := x.Plan.(type) {
	case *plan.OneShard:
		return x.runAssigned(p)
	case *plan.AnyShard:
		return x.runAny()
	case *plan.Global:
		return x.runGlobal(p)
	case *plan.Maintenance:
		return x.runMaintenance(p)
	}
	return &plan.Refusal{Code: plan.Unsupported, Message: "this statement"}
}

// runAssigned runs a statement on the shard that its plan names.
func (x *Execution) runAssigned(p *plan.OneShard) error {
	switch {
	case p.Totals:
		return x.runTableStatus(p)
	case len(p.Summed) > 0:
		return x.runSummed(p)
	case p.Hides:
		return x.runHiding(p)
	case p.Alike:
		return x.runAlike(p)
	}
	return x.RunOn(p.Shard, p.Added)
}

// runAny runs a statement that every shard can answer. It runs on the shard of the transaction, or else on a healthy shard.
func (x *Execution) runAny() error {
	if home, ok := x.Conns.Home(); ok && !x.Facts.Metadata {
		return x.RunOn(home, nil)
	}
	// If a transaction may be on one shard only, a read that any shard can answer must not decide which shard that is.
	x.Outside = x.staysOutside(x.Facts)
	return x.RunAnywhere(x.anyShards(), !runsCode(x.Facts), nil)
}

// runAlike runs a statement that all shards answer alike. It runs on the first shard, or on another one if that shard's server is
// not healthy.
func (x *Execution) runAlike(p *plan.OneShard) error {
	return x.RunAnywhere(x.StandIns(x.Snapshot), !runsCode(x.Facts), p.Added)
}

// runNowhere runs a statement that no row can match. The empty answer comes from the transaction's shard, or from any shard that
// has copies of the global tables.
func (x *Execution) runNowhere(added []plan.Splice) error {
	if home, ok := x.Conns.Home(); ok {
		return x.RunOn(home, added)
	}
	return x.RunAnywhere(x.copyShards(), !runsCode(x.Facts), added)
}

// RunAnywhere runs a statement on one of the candidates. repeats reports that it may be sent to another shard after the first
// one.
func (x *Execution) RunAnywhere(on Candidates, repeats bool, added []plan.Splice) error {
	return x.Anywhere(on, repeats, func(shard router.ShardName, how txn.Mode) error {
		x.AcquireMode = how
		return x.RunOn(shard, added)
	})
}

// mayRunNamed refuses statements that may change or lock rows on a shard that the session has named. Only users with admin may
// run them, and only while no genes move.
func (x *Execution) mayRunNamed() error {
	p, is := x.Plan.(*plan.OneShard)
	if !is || !p.Named || !mayWrite(x.Facts) && x.Facts.Statement.Features&stmt.Locking == 0 {
		return nil
	}
	if !x.Account.Admin {
		return &plan.Refusal{Code: plan.ShardNamed, Message: fmt.Sprintf("user %s may only read on shard %s, which the session has named (locus_shard): users with admin: true may change and lock rows there", x.Observer.User(), p.Shard)}
	}
	if moving := x.Snapshot.Map.Moving(); !moving.Empty() {
		return &plan.Refusal{Code: plan.ShardNamed, Message: fmt.Sprintf("rows on a shard that the session has named (locus_shard) can be changed and locked only while no genes are being moved, and genes %s are being moved: wait until the job has ended", moving)}
	}
	return nil
}

// staysOutside reports whether a read that any shard can answer takes no part in the transaction. With XA, a second shard makes
// the commit more expensive. There, only reads of no rows stay outside.
func (e *Engine) staysOutside(f *plan.Facts) bool {
	switch e.Conns.Spanning {
	case txn.Single:
		return !f.Writes && f.Statement.Features&stmt.Locking == 0
	case txn.XA:
		blocks := f.Statement.Blocks
		return e.Conns.Running() && !mayWrite(f) && len(blocks) == 1 && len(blocks[0].Tables) == 0
	case txn.Multi:
	}
	return false
}

// runRead runs a SELECT on the shards that have the genes of its keys.
func (x *Execution) runRead(p *plan.Read) error {
	err := p.Locate(x.Snapshot.Map, x.Values, &x.route)
	admitted := false
	if err == nil && p.Sought != nil {
		if admitted, err = x.narrowed(&p.Keyed); err != nil {
			return err
		}
	}
	if err == nil {
		err = p.Check(x.Snapshot.Map, &x.route)
	}
	if err == nil {
		if !admitted {
			if err := x.admitRoute(); err != nil {
				return err
			}
		}
		if len(x.route.Shards) > 1 {
			return x.runScatter(p)
		}
		if len(x.route.Shards) == 0 {
			return x.runNowhere(nil)
		}
		var shard router.ShardName
		var added []plan.Splice
		if shard, added, err = x.soleShard(&p.Keyed, nil); err == nil {
			if x.Moving && len(added) == 0 {
				return x.runMoving(shard)
			}
			return x.RunOn(shard, added)
		}
	}
	if p.Gather != nil {
		return x.runGathered(p.Gather)
	}
	return err
}

// runChange runs an UPDATE or DELETE on the shards that have the genes of its keys.
func (x *Execution) runChange(p *plan.Change) error {
	err := p.Locate(x.Snapshot.Map, x.Values, &x.route)
	admitted := false
	if err == nil && p.Sought != nil {
		if admitted, err = x.narrowed(&p.Keyed); err != nil {
			return err
		}
	}
	if err == nil {
		err = p.Check(x.Snapshot.Map, x.Values, &x.route)
	}
	if p.Selects(&x.route, err) {
		return x.runSelected(p)
	}
	if err != nil {
		return err
	}
	if p.Indexing != nil { // the genes of its entries are not known yet
		err = x.Admit(x.route.Genes, true, x.route.Shards)
	} else if !admitted {
		err = x.admitRoute()
	}
	if err != nil {
		return err
	}
	if len(x.route.Shards) > 1 || p.Finds(&x.route) || p.Indexing != nil && len(x.route.Shards) > 0 {
		return x.runSpread(p)
	}
	if len(x.route.Shards) == 0 {
		return x.runNowhere(p.Added)
	}
	shard, added, err := x.soleShard(&p.Keyed, p.Added)
	if err != nil {
		return err
	}
	return x.RunOn(shard, added)
}

// soleShard returns the only shard of the route, and the insertions into the text for that shard.
func (x *Execution) soleShard(k *plan.Keyed, added []plan.Splice) (router.ShardName, []plan.Splice, error) {
	m := x.Snapshot.Map
	shard := x.route.Shards[0]
	added, err := k.AppendOwned(m, &x.route, shard, added)
	return m.Shard(shard), added, err
}

// setReadModes sets how a plain read may be answered. A replica may answer it, and unreachable shards may be left out, if the
// session has requested that. Without etcd, the shard's last known primary may answer it.
func (x *Execution) setReadModes() {
	plain := x.readsPlainly(x.Facts)
	x.Stale = plain && !x.Conns.ReservesAny()
	plain = plain && !x.Facts.Metadata
	x.Replica, x.Partial = plain && x.Vars.Reads != sysvars.Primary, plain && x.Vars.Partial
}

// readsPlainly reports whether a statement is a plain read outside of transactions. Routines might write, and only the primary
// has locks.
func (e *Engine) readsPlainly(f *plan.Facts) bool {
	return e.Vars.Autocommit && !e.Conns.Running() && ReadsAlone(f)
}

// ReadsAlone reports whether a statement is a read without any effect, so that it may run on another connection.
func ReadsAlone(f *plan.Facts) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return f.Statement.Kind == stmt.Select && !f.Writes && f.Statement.Features&never == 0 && f.Leaves == plan.LeavesNothing
}

// RunOn runs a statement with insertions into its text on one shard, and relays the answer.
func (x *Execution) RunOn(shard router.ShardName, added []plan.Splice) error {
	return x.RunTextOn(shard, x.Spliced(added))
}

// RunTextOn is RunOn with another text. Nil is the client's own text.
func (x *Execution) RunTextOn(shard router.ShardName, text []byte) error {
	x.Tally.OneShard.Add(1)
	if err := x.endBefore(x.Facts.Statement); err != nil {
		return err
	}
	x.Outside = x.Outside || x.Facts.Metadata
	last := x.ending()
	if x.Defining != nil {
		last = x.Defining(shard, last)
	}
	return x.oneShard(Part{Shard: shard, Text: text}, last)
}

// endBefore ends locked tables, and the transaction on all of its shards, if the statement ends them before it runs.
func (e *Engine) endBefore(st *stmt.Statement) error {
	if err := e.checkRoom(st); err != nil {
		return err
	}
	if st.Kind == stmt.Lock {
		if err := e.RefuseUnderReadLock(); err != nil {
			return err
		}
		if err := e.Conns.UnlockTables(); err != nil {
			return err
		}
	}
	if st.Effects&stmt.Commits != 0 {
		return e.Conns.Commit()
	}
	return nil
}

// RefuseUnderReadLock refuses LOCK TABLES while the session has the read lock on all shards. UNLOCK TABLES would end both.
func (e *Engine) RefuseUnderReadLock() error {
	if e.Conns.Reserved(txn.ReadLock) {
		return &plan.Refusal{Code: plan.Unsupported, Message: "LOCK TABLES after FLUSH TABLES WITH READ LOCK, which one UNLOCK TABLES would end together: UNLOCK TABLES first"}
	}
	return nil
}
