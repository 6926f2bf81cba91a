package exec

import (
	"time"

	"locus/proxy/backend"
	"locus/proxy/fence"
	"locus/proxy/kept"
	"locus/proxy/observe"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Execution is one execution of one statement. It belongs to the session's goroutine, and ends with the command.
type Execution struct {
	*Engine
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
	// AcquireMode is the mode that Anywhere passes for a shard, if another one could answer.
	AcquireMode txn.Mode
	fence.Admission
	MoveOutcome observe.MoveOutcome // records the outcome of a statement on moving genes
	// Defining returns the ending of a shard's answer to a statement that defines something there; nil: the statement does not. It
	// is called with the statement's own ending.
	Defining func(shard router.ShardName, last reply.Ending) reply.Ending
	// Code is the code of the error that a shard returned, or 0.
	Code  uint16
	again int // number of repetitions after lost connections

	// settings are those under which the statement runs; nil: the session's.
	settings *backend.Settings
	// at is the time of the statement. All shards use the same time if the statement may write it into rows, unless the client has
	// set one. Zero: the current time.
	at time.Time
	// silent: the warnings are discarded.
	silent bool
}

// clone returns a copy of an execution, with its own parameters. Changes of the copy don't affect the original,
// which may be repeated.
func (x *Execution) clone() *Execution {
	own := *x
	if x.Prepared != nil || x.Params != nil {
		own.Params = append([]wire.Param{}, x.Params...)
	}
	return &own
}

// Follow replaces the plan of the statement.
func (x *Execution) Follow(p plan.Plan) { x.Plan, x.Facts = p, p.About() }

// part returns the execution of a text that is run as a part of the statement, under its settings.
func (x *Execution) part(p plan.Plan, v *plan.Values) *Execution {
	return &Execution{
		Engine: x.Engine, Plan: p, Facts: p.About(), Snapshot: x.Snapshot, Admission: x.Admission, Values: v, Replica: x.Replica, Stale: x.Stale, Partial: x.Partial,
		settings: x.settings,
	}
}

// under returns the settings under which the statement runs.
func (x *Execution) under() *backend.Settings {
	if x.settings != nil {
		return x.settings
	}
	return x.Vars.Settings
}

// LendApart lends a connection that is neither reserved nor the transaction's.
func (x *Execution) LendApart(shard router.ShardName, how txn.Mode, settings *backend.Settings) (txn.Lease, error) {
	return x.Conns.LendApart(shard, x.apartMode(how), settings)
}

// ask sends a query to a shard on a connection from LendApart.
func (x *Execution) ask(shard router.ShardName, how txn.Mode, settings *backend.Settings, text string) (*backend.Rows, error) {
	return x.Conns.Ask(shard, x.apartMode(how), settings, text)
}

func (x *Execution) apartMode(how txn.Mode) txn.Mode {
	if x.Stale {
		how |= txn.MayBeStale
	}
	return how
}

// reading returns the settings under which the text was prepared; nil: it is read under the current ones.
func (x *Execution) reading() *kept.Reading {
	switch {
	case x.Prepared != nil:
		return &x.Prepared.Reading
	case x.Textual != nil:
		return &x.Textual.Reading
	}
	return nil
}

// Schema returns the default database of a statement.
func (x *Execution) Schema() string {
	if r := x.reading(); r != nil {
		return r.Settings.Database()
	}
	return x.Vars.Settings.Database()
}

// FullName returns the full name of a table that the statement names.
func (x *Execution) FullName(t stmt.TableName) catalog.TableName {
	return plan.FullName(t, x.Schema())
}

func (x *Execution) fullNames(tables []stmt.TableName) []catalog.TableName {
	var list []catalog.TableName
	for _, t := range tables {
		list = append(list, x.FullName(t))
	}
	return list
}

// runsCode reports whether a statement may change something: it writes, or calls stored code, whether or not that leaves state.
func runsCode(f *plan.Facts) bool {
	return f.Writes || f.Leaves == plan.LeavesRoutine || f.Statement.Features&stmt.UnknownFunction != 0
}

// mayWrite reports whether a statement may change something. A stored function may.
func mayWrite(f *plan.Facts) bool {
	if f.Writes {
		return true
	}
	switch f.Statement.Kind {
	case stmt.Select:
		return runsCode(f)
	case stmt.Show, stmt.Explain:
		return false
	default:
		return true
	}
}
