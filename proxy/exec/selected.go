package exec

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Limits of a change whose rows are found in gathered ones.
const (
	mostSelected = 50_000 // rows
	keysOfPart   = 500    // rows that one statement changes
)

// runSelected runs an UPDATE or DELETE whose condition no shard can evaluate alone. It gathers the tables with locking reads, which keep
// what the condition depends on unchanged, finds the rows there, and changes them on their shards in the same transaction.
func (x *Execution) runSelected(p *plan.Change) error {
	sel := p.Selection
	if sel.ReadsTarget && !x.Snapshot.Flavor.ReopensTemporary() {
		return p.SpreadRefusal()
	}
	if err := x.guardSelection(); err != nil {
		return err
	}
	if err := x.requireUTF8(); err != nil {
		return err
	}
	if err := x.admitGathering(sel.Gather); err != nil {
		return err
	}
	query := x.keyQuery(sel)
	shards, err := sel.Spread(x.Snapshot.Map, query.Values, &x.route)
	if err == nil && shards > 1 {
		err = x.Account.MayScatterWrite(shards, &x.Vars.Diagnostics)
	}
	if err != nil {
		return err
	}
	var total totals
	err = x.runTogether(func() error {
		return x.withOneTime(func() error {
			query.at, query.settings = x.at, withoutLimit(x.under())
			keys, err := query.selectKeys(sel)
			if err != nil {
				return err
			}
			total, err = x.changeByKeys(sel, keys)
			return err
		})
	})
	if err != nil {
		return err
	}
	return x.doneChanging(total)
}

// guardSelection refuses settings under which the rows can't be found or the change would do more than on one server, and applies the
// user's guard of reads of several shards.
func (x *Execution) guardSelection() error {
	if x.Vars.LimitsRows() {
		return &plan.Refusal{Code: plan.ScatterWrite, Message: "a change whose rows are found on several shards while sql_select_limit is set: SET sql_select_limit = DEFAULT"}
	}
	if x.Vars.SafeUpdates() {
		return &plan.Refusal{Code: plan.ScatterWrite, Message: "a change whose rows are found on several shards while sql_safe_updates is on, which is about the keys that one server would use: SET sql_safe_updates = 0, or name the owner in WHERE"}
	}
	return x.Account.MayScatter(x.shardsWithGenes(), &x.Vars.Diagnostics)
}

// withoutLimit returns the settings without MySQL's time limit of SELECTs, for the reads of a change, which has no such limit.
func withoutLimit(s *backend.Settings) *backend.Settings {
	if _, set := s.Lookup("max_execution_time"); set {
		return s.Without("max_execution_time")
	}
	return s
}

// refuseWarned refuses a change whose condition has given warnings in a read. One server may make them errors of the change.
func refuseWarned() error {
	return &plan.Refusal{Code: plan.ScatterWrite, Message: "its condition gives warnings on rows of several shards, for which one server may refuse a change: nothing was changed; a SELECT with the same WHERE shows them, so compare values of the same type, or name the owner in WHERE"}
}

// keyQuery returns the execution of the query for the keys.
func (x *Execution) keyQuery(sel *plan.Selection) *Execution {
	own := *x
	var bound []stmt.Value
	if x.Prepared != nil {
		own.Params = nil
		for _, n := range sel.Params(x.Values.Lexed) {
			own.Params = append(own.Params, x.Params[n])
			bound = append(bound, Value(x.Params[n]))
		}
	}
	args := new(stmt.Args)
	args.Foreign = x.Vars.Foreign
	args.Reset(sel.Lex(x.Values.Lexed), bound)
	own.Values = &plan.Values{Args: args, InsertID: x.Vars.InsertID, UserVariable: x.Values.UserVariable}
	return &own
}

// selectKeys returns the primary keys of the rows, as literals, by the number of the shard that has them.
func (x *Execution) selectKeys(sel *plan.Selection) (keys map[int][]string, err error) {
	err = x.gatherAdmitted(sel.Gather, func(g *gathering) error {
		keys, err = g.selectKeys(sel)
		return err
	})
	return keys, err
}

// selectKeys runs the query for the keys over the gathered rows.
func (g *gathering) selectKeys(sel *plan.Selection) (map[int][]string, error) {
	conn := g.on.lease.Conn
	if err := conn.Carry(g.x.Context, g.x.under().With("character_set_results", "'utf8mb4'")); err != nil {
		return nil, err
	}
	text, err := g.x.WithLiterals(g.x.Values.Text, g.x.Values.Literals, append(g.edits(), sel.TagEdit())...)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Own().Query(g.x.Context, string(text)+sel.Order()+" LIMIT "+strconv.Itoa(mostSelected+1))
	if err != nil {
		return nil, err
	}
	if warned, err := conn.Own().Query(g.x.Context, sysvars.AskWarnings); err != nil || len(warned.Rows) > 0 {
		return nil, cmp.Or(err, refuseWarned())
	}
	if len(rows.Rows) > mostSelected {
		return nil, &plan.Refusal{Code: plan.GatherLimit, Message: fmt.Sprintf("more than %d rows, which are found by rows of other shards, would be changed: nothing was changed; add a condition, and change the rows in several statements", mostSelected)}
	}
	keys := map[int][]string{}
	for _, row := range rows.Rows {
		if slices.ContainsFunc(row, func(v []byte) bool { return v == nil }) {
			continue // an outer join has found no row
		}
		shard, err := strconv.Atoi(string(row[0]))
		if err != nil {
			return nil, fmt.Errorf("the number of a shard: %q", row[0])
		}
		keys[shard] = append(keys[shard], keyOf(rows.Columns[1:], row[1:]))
	}
	return keys, nil
}

// keyOf returns the values of a key as a list of literals.
func keyOf(columns []wire.Column, values [][]byte) string {
	text := ""
	for i, v := range values {
		if i > 0 {
			text += ", "
		}
		switch c := columns[i]; c.Type {
		case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_NEWDECIMAL:
			text += string(v)
		case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_DATETIME:
			text += "'" + string(v) + "'"
		default:
			if c.Charset != binaryCharset {
				text += "_utf8mb4 "
			}
			text += "X'" + hex.EncodeToString(v) + "'"
		}
	}
	if len(values) > 1 {
		return "(" + text + ")"
	}
	return text
}

// binaryCharset is the character set of columns without one.
const binaryCharset = 63

// changeByKeys changes the rows on their shards, some on each at a time.
func (x *Execution) changeByKeys(sel *plan.Selection, keys map[int][]string) (total totals, err error) {
	var set []byte
	if from, to, updates := sel.Set(x.Values); updates {
		if set, err = x.between(from, to); err != nil {
			return total, err
		}
	}
	shards := make([]int, 0, len(keys))
	for shard := range keys {
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	changing := x.part(x.Plan, x.Values)
	if len(shards) == 0 && len(x.route.Shards) > 0 { // a server that changes no row may still refuse the statement
		return changing.changeOnce([]Part{{Shard: x.Snapshot.Map.Shard(x.route.Shards[0]), Text: sel.ByKeys(set, nil)}})
	}
	for len(shards) > 0 {
		parts := make([]Part, len(shards))
		for i, shard := range shards {
			n := min(keysOfPart, len(keys[shard]))
			parts[i] = Part{Shard: x.Snapshot.Map.Shard(shard), Text: sel.ByKeys(set, keys[shard][:n])}
			keys[shard] = keys[shard][n:]
		}
		changed, err := changing.changeOnce(parts)
		if err != nil {
			return total, err
		}
		total.join(changed)
		shards = slices.DeleteFunc(shards, func(shard int) bool { return len(keys[shard]) == 0 })
	}
	return total, nil
}
