package session

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/stamp"
	"locus/proxy/trace"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// runStamped runs an INSERT into a sharded table.
func (s *Session) runStamped(r *exec.Work, p *plan.Stamped) error {
	result, err := s.stamped(r, p)
	if err != nil {
		return err
	}
	if err := s.admit(r, result.Genes, false); err != nil {
		return err
	}
	s.integers = s.integers[:0] // once for all shards: their parameters are views of it
	s.Counts.Stamped.Add(uint64(result.Generated))
	if len(result.Shards) == 1 {
		return s.insertOne(r, p, result)
	}
	parts := make([]exec.Part, 0, len(result.Shards))
	for _, text := range result.Shards {
		parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(text.Shard), Text: text.Text, Params: s.stampedParams(nil, text.Params)})
	}
	total, err := s.runParts(r, parts)
	if err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings, Info: records(uint64(len(result.Genes)), total, r.Facts.Statement.Insert.Ignore)}
	if result.HasID && total.Affected > 0 {
		s.vars.InsertID = result.FirstID.Lo
		ok.LastInsertID = result.CountFrom
	} else if total.Affected > 0 {
		ok.LastInsertID = p.Insert.LastNumber(r.Values)
	}
	return s.done(ok)
}

// records is what the OK of an INSERT says in words.
func records(rows uint64, total exec.Totals, ignores bool) []byte {
	duplicates := max(0, int64(total.Affected)-int64(rows))
	if ignores {
		duplicates = max(0, int64(rows)-int64(total.Affected))
	}
	return fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", rows, duplicates, total.Warnings)
}

// inserted writes the OK of rows from elsewhere.
func (s *Session) inserted(in exec.Inserted, words []byte) error {
	ok := wire.OK{AffectedRows: in.Affected, Warnings: in.Warnings, Info: words}
	if in.FirstID != 0 && in.Affected > 0 {
		s.vars.InsertID = in.FirstID
	}
	if in.Affected > 0 {
		ok.LastInsertID = in.CountFrom
	}
	s.vars.FoundRows = in.Rows
	return s.done(ok)
}

// stamped makes what the rows of an INSERT leave to be made.
func (s *Session) stamped(r *exec.Work, p *plan.Stamped) (*stamp.Result, error) {
	defer s.observer.Trace().Enter(trace.Issue, "")()
	if s.Generators != nil && len(p.Insert.Table.StampedColumns) > 0 {
		declared, values := r.Snapshot.Declared, s.vars.Context.Values
		s.stamper.Make = func(ctx context.Context, generator string, n int) ([]string, error) {
			return s.Generators.Texts(ctx, declared, generator, n, values)
		}
	}
	s.stamper.Numbers, s.stamper.ZeroIsNumber, s.stamper.Unnumbered = s.Numbers, s.zeroIsNumber(), s.unnumbered()
	var result *stamp.Result
	var err error
	if r.Prepared != nil {
		result, err = s.stamper.StampPrepared(s.interrupts.Waits(), p, r.Values, r.Snapshot.Map, s.IDs, s.Ring)
	} else {
		result, err = s.stamper.StampText(s.interrupts.Waits(), p, r.Values, r.Snapshot.Map, s.IDs, s.Ring)
	}
	if err == nil {
		err = p.Returned(len(result.Shards))
	}
	if err != nil {
		return nil, err
	}
	s.observer.Weighs(r.Snapshot.Map, result.Genes, true)
	return result, nil
}

// zeroIsNumber tells whether the session's sql_mode has NO_AUTO_VALUE_ON_ZERO, as dumps do.
func (s *Session) zeroIsNumber() bool {
	literal, _ := s.vars.Settings.Lookup("sql_mode")
	return strings.Contains(strings.ToUpper(literal), "NO_AUTO_VALUE_ON_ZERO")
}

// unnumbered is why rows would have other numbers than on one server; empty: they would not.
func (s *Session) unnumbered() string {
	if s.vars.ForcedID != 0 {
		return "insert_id is set, which is for tables that are not sharded: give the number in the row"
	}
	for _, name := range []string{"auto_increment_increment", "auto_increment_offset"} {
		if literal, ok := s.vars.Settings.Lookup(name); ok && literal != "1" {
			return name + " is " + literal + ", and the cluster counts by one: SET " + name + " = 1, or give the number"
		}
	}
	return ""
}

// insertOne runs an INSERT whose rows are all on one shard.
func (s *Session) insertOne(r *exec.Work, p *plan.Stamped, result *stamp.Result) error {
	only := result.Shards[0]
	var last reply.Ending
	if result.HasID {
		updates := len(r.Facts.Statement.Insert.Update) > 0
		s.insert = inserting{id: result.FirstID.Lo, countFrom: result.CountFrom, mayUpdate: updates && len(result.Genes) == 1}
		last = s.insertEnding
	}
	s.Counts.OneShard.Add(1)
	var params []wire.Param
	if r.Prepared != nil {
		s.generated = s.stampedParams(s.generated[:0], only.Params)
		params = s.generated
	}
	shard := r.Snapshot.Map.Shard(only.Shard)
	if err := s.env.OneShard(r, exec.Part{Shard: shard, Text: only.Text, Params: params}, last); err != nil {
		return err
	}
	if result.HasID && s.insert.mayUpdate && s.client.Scanner.Rows() > 0 {
		s.keepReturned(p.Insert, shard, result.Layout, result.FirstID)
	}
	return nil
}

// keepReturned keeps the generated ID as LAST_INSERT_ID() if a row has it: rows
// that RETURNING gave don't say which of them were updated.
func (s *Session) keepReturned(in *plan.Insertion, shard router.ShardName, layout orderid.Layout, id orderid.ID) {
	l, err := s.conns.Acquire(shard, 0)
	if err != nil {
		return
	}
	rows, err := l.Conn.Own().Query(s.ctx, in.Find(layout, id))
	if err != nil {
		l.Lost()
		return
	}
	if len(rows.Rows) > 0 {
		s.vars.InsertID = id.Lo
	}
	l.Done(l.Conn.Status())
}

// inserting is what insertEnding must know of the INSERT under way.
type inserting struct {
	id        uint64 // the first generated
	countFrom uint64 // what the OK tells
	mayUpdate bool   // its one row may take the place of another
}

// endInsert is an ending that puts the first generated ID into the OK, and
// keeps it as LAST_INSERT_ID(), if a row was inserted by it: one that took the
// place of nothing counts 1, and one that was updated instead counts 2 or 0.
func (s *Session) endInsert(dst, packet []byte) ([]byte, error) {
	if _, failed := s.client.Scanner.ErrCode(); !failed && s.client.Scanner.Columns() > 0 { // RETURNING
		if s.client.Scanner.Rows() > 0 && !s.insert.mayUpdate {
			s.vars.InsertID = s.insert.id
		}
		return append(dst, packet...), nil
	}
	if ok, has := s.client.Scanner.OK(); has && (ok.AffectedRows == 0 || (s.insert.mayUpdate && ok.AffectedRows != 1)) {
		return append(dst, packet...), nil
	}
	if packet[wire.HeaderSize] != mysql.OK_HEADER {
		return append(dst, packet...), nil
	}
	ok, err := wire.ParseOK(packet[wire.HeaderSize:], backend.Capabilities)
	if err != nil {
		return dst, err
	}
	s.vars.InsertID = s.insert.id
	return wire.RebuildOK(dst, packet, ok.AffectedRows, s.insert.countFrom)
}

// stampedParams appends the parameters of the spliced statement: the client's,
// in their new places, and generated ones between them.
func (s *Session) stampedParams(dst []wire.Param, list []stamp.Param) []wire.Param {
	for _, p := range list {
		if p.Bound >= 0 {
			dst = append(dst, s.params[p.Bound])
			continue
		}
		dst = append(dst, s.generatedParam(p.Value))
	}
	return dst
}

func (s *Session) generatedParam(v stmt.Value) wire.Param {
	if v.Kind == stmt.Bytes || v.Kind == stmt.String {
		return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: v.Text}
	}
	s.integers = binary.LittleEndian.AppendUint64(s.integers, v.Bits())
	p := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: s.integers[len(s.integers)-8:]}
	if v.Kind == stmt.Uint {
		p.Flags = mysql.PARAM_UNSIGNED
	}
	return p
}
