package exec

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/flavor"
	"locus/proxy/reply"
	"locus/proxy/scatter"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// scatter runs a read on the shards of its route and merges their answers. It runs it again where that is safe. unmerged reports that
// the answers can't be merged for a reason that the planner can't see, such as a type. Nothing was sent to the client then, and the rows
// may be gathered.
func (x *Execution) scatter(p *plan.Read, route *plan.Route) (unmerged bool, err error) {
	x.Cursor = false
	err = x.repeat(func() (err error) {
		unmerged, err = x.scatterOnce(p, route)
		return err
	})
	return unmerged, err
}

// scatterOnce runs a read on the shards of its route, and merges their answers.
func (x *Execution) scatterOnce(p *plan.Read, route *plan.Route) (unmerged bool, err error) {
	if !x.needsOneTime() {
		return x.sendAndMerge(p, route)
	}
	err = x.atOneTime(func() (err error) {
		unmerged, err = x.sendAndMerge(p, route)
		return err
	})
	return unmerged, err
}

// sendAndMerge sends the shards their parts, and merges the answers.
func (x *Execution) sendAndMerge(p *plan.Read, route *plan.Route) (unmerged bool, err error) {
	parts, limit, err := x.scattering(p, route)
	if err != nil {
		return false, err
	}
	began := !x.Conns.Running()
	x.Conns.Imply()
	send := x.sendAll
	if x.Partial {
		send = x.sendPresent
	}
	leases, err := send(parts, x.purpose()&^txn.Outside)
	if err != nil {
		return false, err
	}
	status := x.Status()
	if !x.Vars.Autocommit { // begins a transaction, as any read does
		status |= mysql.SERVER_STATUS_IN_TRANS
	}
	format := scatter.Text
	if x.Prepared != nil {
		format = scatter.Binary
	}
	outcome, err := x.merge(leases, p.Merge, format, limit, scatter.Options{
		Status: status, Warnings: len(x.Absent) + len(x.stale), ZeroIsNull: x.sortsZeroAsNull(x.Snapshot.Flavor), RawTexts: sysvars.RawTexts(x.under()),
	})
	x.noteMerge(outcome, err)
	if began && x.Unbegun(err) {
		x.Conns.Unbegin()
	}
	_, refused := err.(*plan.Refusal) //nolint:errorlint // it is never wrapped
	return refused && !outcome.Sent, mergeError(outcome, err)
}

// sortsZeroAsNull reports for a type whether the servers sort zero dates that expressions return like NULL.
func (e *Engine) sortsZeroAsNull(servers flavor.Flavor) func(typ byte) bool {
	modes, set := e.Vars.Settings.Lookup("sql_mode")
	if !set || strings.EqualFold(modes, "DEFAULT") {
		modes = "NO_ZERO_DATE" // a part of MySQL's default
	}
	return func(typ byte) bool { return servers.SortsZeroAsNull(typ, strings.ToUpper(modes)) }
}

// ReadParts returns the part of a read that each shard of a route is sent. If there are several shards, these are the parts whose
// answers are merged.
func (x *Execution) ReadParts(p *plan.Read, route *plan.Route) ([]Part, error) {
	if len(route.Shards) > 1 {
		parts, _, err := x.scattering(p, route)
		return parts, err
	}
	return routedParts(x.Snapshot.Map, x.Values, route, &p.Keyed, x.Values.Text, nil, nil)
}

// scattering returns the part of each shard, and the LIMIT of the whole statement.
func (x *Execution) scattering(p *plan.Read, route *plan.Route) ([]Part, plan.Window, error) {
	limit, edits, ok := p.Merge.Edits(x.Values)
	if !ok {
		return nil, limit, sysvars.BadLimit()
	}
	if err := x.Account.MaySkip(limit.Offset, &x.Vars.Diagnostics); err != nil {
		return nil, limit, err
	}
	var params []wire.Param
	if x.Prepared != nil {
		params = append(params, x.Params...)
		edits = bindNumbers(x.Values.Lexed, edits, params)
	}
	parts, err := routedParts(x.Snapshot.Map, x.Values, route, &p.Keyed, x.Edited(x.Values.Text, edits), edits, params)
	return parts, limit, err
}

// noteMerge records the result of a merge in the session.
func (x *Execution) noteMerge(outcome scatter.Outcome, err error) {
	x.Client.Seq, x.Observer.Failed = outcome.NextSeq, outcome.Err != nil
	x.Vars.RowCount = -1
	switch {
	case outcome.Err != nil:
		x.Code = outcome.Err.Code
		x.NoteError(outcome.Err)
		if x.Snapshot.Flavor.ForgetsFoundRows() && !beforeBeginning(x.Code) {
			x.Vars.FoundRows = 0
		}
	case err == nil:
		x.Vars.FoundRows = outcome.Found
	}
}

// mergeError converts a merge's error to a type that decides what happens next: the client gets the error of the statement, or
// the session ends.
func mergeError(outcome scatter.Outcome, err error) error {
	if gone, ok := errors.AsType[*scatter.ClientError](err); ok {
		return &reply.GoneError{Err: gone}
	}
	if err != nil && outcome.Sent {
		return &reply.PartialError{Err: err}
	}
	return err
}

// guardScatter prepares a read of several shards. It applies limitScatter, and returns an error if the user's guard refuses that
// many shards.
func (e *Engine) guardScatter(shards int) error {
	if err := e.limitScatter(); err != nil {
		return err
	}
	return e.Account.MayScatter(shards, &e.Vars.Diagnostics)
}

// limitScatter counts a read of several shards and sets its time limit, without the user's guard. It refuses sql_select_limit.
func (e *Engine) limitScatter() error {
	e.Tally.Scattered.Add(1)
	if e.Vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterShape, Message: "a read of several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT, and use LIMIT"}
	}
	if limit := e.Vars.TimeLimit(); limit > 0 {
		e.Interrupts.Limit(time.Now().Add(limit)) // each shard has this limit too, from the start of its part
	}
	return nil
}

// guardRoute is guardScatter for the shards of the route. The guard is not applied if the rows of one gene are on two shards.
func (e *Engine) guardRoute() error {
	if e.route.Whole() {
		return e.limitScatter()
	}
	return e.guardScatter(len(e.route.Shards))
}

// guardAll is guardScatter for a read of every shard that has genes.
func (x *Execution) guardAll() error {
	return x.guardScatter(x.shardsWithGenes())
}

// shardsWithGenes returns the number of shards that have genes.
func (x *Execution) shardsWithGenes() int {
	m := x.Snapshot.Map
	return len(m.ShardsOf(0, m.Width().Last(), nil))
}

// runScatter runs a SELECT on several shards and merges their answers.
func (x *Execution) runScatter(p *plan.Read) error {
	if err := x.guardRoute(); err != nil {
		return err
	}
	unmerged, err := x.scatter(p, &x.route)
	if why, refused := err.(*plan.Refusal); refused && unmerged && x.PollUnlike(why) { //nolint:errorlint // it is never wrapped
		return err
	}
	if unmerged && p.Gather != nil {
		return x.gather(p.Gather)
	}
	return err
}

// routedParts returns the part of each shard of a route. Usually all have the same text, the statement's with edits. While genes are
// moving, a shard's text excludes the rows of genes that other shards own.
func routedParts(m *router.Map, v *plan.Values, route *plan.Route, k *plan.Keyed, text []byte, edits []stmt.Edit, params []wire.Param) ([]Part, error) {
	shards := m.Shards()
	parts := make([]Part, len(route.Shards))
	for i, shard := range route.Shards {
		parts[i] = Part{Shard: shards[shard], Text: text, Params: params}
		splices, err := k.AppendOwned(m, route, shard, nil)
		if err != nil {
			return nil, err
		}
		if splices != nil {
			own := append(slices.Clone(edits), plan.Edits(v, splices)...)
			parts[i].Text = stmt.AppendEdited(nil, v.Text, stmt.SortEdits(own))
		}
	}
	return parts, nil
}
