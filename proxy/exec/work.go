package exec

import (
	"locus/proxy/fence"
	"locus/proxy/kept"
	"locus/proxy/observe"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Work is one execution of one statement.
type Work struct {
	Plan     plan.Plan
	Facts    *plan.Facts // the facts of Plan
	Values   *plan.Values
	Snapshot *snapshot.Snapshot
	// Prepared is set for prepared statements. Params contains the client's parameters then.
	Prepared *kept.Statement
	Params   []wire.Param
	// Payload is the client's own command.
	Payload []byte
	// Textual is the text given to PREPARE, for an EXECUTE that the shard runs itself.
	Textual *kept.Text
	// Cursor: the client requests a cursor, and the statement can have one.
	Cursor bool
	// Outside: the statement takes no part in the transaction.
	Outside bool
	// Replica: a replica may answer it.
	Replica bool
	// Stale: the last known primaries may answer it while etcd does not confirm them.
	Stale bool
	// Partial: the rows of the reachable shards suffice. Absent contains the shards that were not reached.
	Partial bool
	Absent  []router.ShardName
	// Elsewhere is the mode that Anywhere passes for a shard, if another one could answer.
	Elsewhere txn.Mode
	fence.Admission
	Faring observe.Faring // records the outcome of a statement on moving genes
	// Code is the code of the error that a shard returned, or 0.
	Code  uint16
	again int // how often it was run again after a lost connection
}

// Follow replaces the plan of the statement.
func (w *Work) Follow(p plan.Plan) { w.Plan, w.Facts = p, p.About() }

// Part returns the work of a text that is run as a part of the statement.
func (w *Work) Part(p plan.Plan, v *plan.Values) *Work {
	return &Work{Plan: p, Facts: p.About(), Snapshot: w.Snapshot, Admission: w.Admission, Values: v, Replica: w.Replica, Stale: w.Stale, Partial: w.Partial}
}

// reading returns the settings under which the text was prepared; nil: it is read under the current ones.
func (w *Work) reading() *kept.Reading {
	switch {
	case w.Prepared != nil:
		return &w.Prepared.Reading
	case w.Textual != nil:
		return &w.Textual.Reading
	}
	return nil
}

// Schema returns the default database of a statement.
func (e *Environment) Schema(w *Work) string {
	if r := w.reading(); r != nil {
		return r.Settings.Database()
	}
	return e.Vars.Settings.Database()
}

// FullName returns the full name of a table that the statement names.
func (e *Environment) FullName(w *Work, t stmt.TableName) catalog.TableName {
	return plan.FullName(t, e.Schema(w))
}

func (e *Environment) fullNames(w *Work, tables []stmt.TableName) []catalog.TableName {
	var list []catalog.TableName
	for _, t := range tables {
		list = append(list, e.FullName(w, t))
	}
	return list
}

// RunsCode reports whether a statement may change something: it writes, or calls stored code, whether or not that leaves state.
func RunsCode(f *plan.Facts) bool {
	return f.Writes || f.Leaves == plan.LeavesRoutine || f.Statement.Features&stmt.UnknownFunction != 0
}

// MayWrite reports whether a statement may change something. A stored function may.
func MayWrite(f *plan.Facts) bool {
	if f.Writes {
		return true
	}
	switch f.Statement.Kind {
	case stmt.Select:
		return RunsCode(f)
	case stmt.Show, stmt.Explain:
		return false
	default:
		return true
	}
}
