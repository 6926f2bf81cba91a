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
	Facts    *plan.Facts // the plan's
	Values   *plan.Values
	Snapshot *snapshot.Snapshot
	// Prepared is set for prepared statements, whose client's parameters are Params.
	Prepared *kept.Statement
	Params   []wire.Param
	// Payload is the client's own command.
	Payload []byte
	// Textual is what PREPARE was given, of an EXECUTE that the shard runs itself.
	Textual *kept.Text
	// Cursor: the client asks for one, and the statement can have it.
	Cursor bool
	// Outside: it takes no part in the transaction.
	Outside bool
	// Replica: it may be answered by one.
	Replica bool
	// Stale: it may be answered by the last known primaries while etcd does not confirm them.
	Stale bool
	// Partial: it does with the rows of the shards that are there, and Absent were not.
	Partial bool
	Absent  []router.ShardName
	// Elsewhere is what Anywhere gives for a shard that is asked: another one could answer.
	Elsewhere txn.Mode
	fence.Admission
	Faring observe.Faring // of one on moving genes, how it fares
	// Code is the error that a shard answered with, 0 if none did.
	Code uint16
}

// Follow has the statement run by another plan.
func (w *Work) Follow(p plan.Plan) { w.Plan, w.Facts = p, p.About() }

// Part is the work of a text that is run as a part of the statement.
func (w *Work) Part(p plan.Plan, v *plan.Values) *Work {
	return &Work{Plan: p, Facts: p.About(), Snapshot: w.Snapshot, Admission: w.Admission, Values: v, Replica: w.Replica, Stale: w.Stale, Partial: w.Partial}
}

// reading is how a text was read that was prepared before; nil: it is read now.
func (w *Work) reading() *kept.Reading {
	switch {
	case w.Prepared != nil:
		return &w.Prepared.Reading
	case w.Textual != nil:
		return &w.Textual.Reading
	}
	return nil
}

// Schema is the default database of a statement.
func (e *Environment) Schema(w *Work) string {
	if r := w.reading(); r != nil {
		return r.Settings.Database()
	}
	return e.Vars.Settings.Database()
}

// FullName is a table's that the statement names.
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

// RunsCode tells a statement that may change something: it writes, or runs what
// somebody has stored, whether or not that leaves state.
func RunsCode(f *plan.Facts) bool {
	return f.Writes || f.Leaves == plan.LeavesRoutine || f.Statement.Features&stmt.UnknownFunction != 0
}

// MayWrite tells whether a statement may change something. A stored function may.
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
