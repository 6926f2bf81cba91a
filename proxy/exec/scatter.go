package exec

import (
	"errors"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/reply"
	"locus/proxy/scatter"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
)

// Scatter runs a read on the shards of its route and merges their answers. It runs it again where that is safe. unmerged reports that
// the answers can't be merged for a reason that the planner can't see, such as a type. Nothing was sent to the client then, and the rows
// may be gathered.
func (e *Environment) Scatter(w *Work, p *plan.Read, route *plan.Route) (unmerged bool, err error) {
	w.Cursor = false
	err = e.repeat(w, func() (err error) {
		unmerged, err = e.scatterOnce(w, p, route)
		return err
	})
	return unmerged, err
}

// scatterOnce runs a read on the shards of its route, and merges their answers.
func (e *Environment) scatterOnce(w *Work, p *plan.Read, route *plan.Route) (unmerged bool, err error) {
	if !e.needsOneTime(w) {
		return e.scatter(w, p, route, nil)
	}
	err = e.atOneTime(e.Vars.Settings, time.Time{}, func(settings *backend.Settings) (err error) {
		unmerged, err = e.scatter(w, p, route, settings)
		return err
	})
	return unmerged, err
}

// scatter sends the shards their parts under the settings, and merges the answers. Nil settings are the session's.
func (e *Environment) scatter(w *Work, p *plan.Read, route *plan.Route, settings *backend.Settings) (unmerged bool, err error) {
	parts, limit, err := e.scattering(w, p, route)
	if err != nil {
		return false, err
	}
	began := !e.Conns.Running()
	e.Conns.Imply()
	all := e.several(w, e.purpose(w)&^txn.Outside)
	all.settings = settings
	var leases []txn.Lease
	if w.Partial {
		leases, err = all.SendPresent(parts)
		w.Absent = all.Of.Absent
	} else {
		leases, err = all.Send(parts)
	}
	if err != nil {
		return false, err
	}
	status := e.Status()
	if !e.Vars.Autocommit { // it begins a transaction, as any read does
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	format := scatter.Text
	if w.Prepared != nil {
		format = scatter.Binary
	}
	outcome, err := all.Merge(leases, p.Merge, format, limit, scatter.Options{Status: status, Warnings: len(w.Absent) + len(e.stale), ZeroIsNull: e.sortsZeroAsNull(w.Snapshot.Flavor)})
	e.noteMerge(w, outcome, err)
	if began && w.Unbegun(err) {
		e.Conns.Unbegin()
	}
	_, refused := err.(*plan.Refusal) //nolint:errorlint // it is never wrapped
	return refused && !outcome.Sent, mergeError(outcome, err)
}

// sortsZeroAsNull reports for a type whether the servers sort zero dates that expressions return like NULL.
func (e *Environment) sortsZeroAsNull(servers flavor.Flavor) func(typ byte) bool {
	modes, set := e.Vars.Settings.Lookup("sql_mode")
	if !set || strings.EqualFold(modes, "DEFAULT") {
		modes = "NO_ZERO_DATE" // a part of MySQL's default
	}
	return func(typ byte) bool { return servers.SortsZeroAsNull(typ, strings.ToUpper(modes)) }
}

// ReadParts returns the part of a read that each shard of a route is sent. If there are several shards, these are the parts whose
// answers are merged.
func (e *Environment) ReadParts(w *Work, p *plan.Read, route *plan.Route) ([]Part, error) {
	if len(route.Shards) > 1 {
		parts, _, err := e.scattering(w, p, route)
		return parts, err
	}
	return Routed(w.Snapshot.Map, w.Values, route, &p.Keyed, w.Values.Text, nil, nil)
}

// scattering returns the part of each shard, and the LIMIT of the whole statement.
func (e *Environment) scattering(w *Work, p *plan.Read, route *plan.Route) ([]Part, plan.Window, error) {
	limit, edits, ok := p.Merge.Edits(w.Values)
	if !ok {
		return nil, limit, sysvars.BadLimit()
	}
	if err := e.Account.MaySkip(limit.Offset, &e.Vars.Diagnostics); err != nil {
		return nil, limit, err
	}
	var params []wire.Param
	if w.Prepared != nil {
		params = append(params, w.Params...)
		edits = Bind(w.Values.Lexed, edits, params)
	}
	parts, err := Routed(w.Snapshot.Map, w.Values, route, &p.Keyed, e.Edited(w.Values.Text, edits), edits, params)
	return parts, limit, err
}

// noteMerge records the result of a merge in the session.
func (e *Environment) noteMerge(w *Work, outcome scatter.Outcome, err error) {
	e.Client.Seq, e.Observer.Failed = outcome.NextSeq, outcome.Err != nil
	e.Vars.RowCount = -1
	switch {
	case outcome.Err != nil:
		w.Code = outcome.Err.Code
		e.NoteError(outcome.Err)
		if w.Snapshot.Flavor.ForgetsFoundRows() && !beforeBeginning(w.Code) {
			e.Vars.FoundRows = 0
		}
	case err == nil:
		e.Vars.FoundRows = outcome.Found
	}
}

// mergeError returns a merge's error as a type that decides what follows. The client is sent the error of the statement, or the
// session ends.
func mergeError(outcome scatter.Outcome, err error) error {
	if gone, ok := errors.AsType[*scatter.ClientError](err); ok {
		return &reply.GoneError{Err: gone}
	}
	if err != nil && outcome.Sent {
		return &reply.PartialError{Err: err}
	}
	return err
}
