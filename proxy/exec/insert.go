package exec

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stamp"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// InsertOne runs an INSERT whose rows are all on one shard.
func (e *Environment) InsertOne(w *Work, p *plan.Stamped, result *stamp.Result) error {
	only := result.Shards[0]
	var last reply.Ending
	if result.HasID {
		updates := len(w.Facts.Statement.Insert.Update) > 0
		e.insert = inserting{id: result.FirstID.Lo, countFrom: result.CountFrom, mayUpdate: updates && len(result.Genes) == 1}
		last = e.insertEnding
	}
	e.Tally.OneShard.Add(1)
	var params []wire.Param
	if w.Prepared != nil {
		e.generated = e.stampedParams(e.generated[:0], w.Params, only.Params)
		params = e.generated
	}
	shard := w.Snapshot.Map.Shard(only.Shard)
	if err := e.OneShard(w, Part{Shard: shard, Text: only.Text, Params: params}, last); err != nil {
		return err
	}
	if result.HasID && e.insert.mayUpdate && e.Client.Scanner.Rows() > 0 {
		e.keepReturned(p.Insert, shard, result.Layout, result.FirstID)
	}
	return nil
}

// keepReturned keeps the generated ID as LAST_INSERT_ID() if a row has it: rows
// that RETURNING gave don't say which of them were updated.
func (e *Environment) keepReturned(in *plan.Insertion, shard router.ShardName, layout orderid.Layout, id orderid.ID) {
	l, err := e.Conns.Acquire(shard, 0)
	if err != nil {
		return
	}
	rows, err := l.Conn.Own().Query(e.Context, in.Find(layout, id))
	if err != nil {
		l.Lost()
		return
	}
	if len(rows.Rows) > 0 {
		e.Vars.InsertID = id.Lo
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
func (e *Environment) endInsert(dst, packet []byte) ([]byte, error) {
	if _, failed := e.Client.Scanner.ErrCode(); !failed && e.Client.Scanner.Columns() > 0 { // RETURNING
		if e.Client.Scanner.Rows() > 0 && !e.insert.mayUpdate {
			e.Vars.InsertID = e.insert.id
		}
		return append(dst, packet...), nil
	}
	if ok, has := e.Client.Scanner.OK(); has && (ok.AffectedRows == 0 || (e.insert.mayUpdate && ok.AffectedRows != 1)) {
		return append(dst, packet...), nil
	}
	if packet[wire.HeaderSize] != mysql.OK_HEADER {
		return append(dst, packet...), nil
	}
	ok, err := wire.ParseOK(packet[wire.HeaderSize:], backend.Capabilities)
	if err != nil {
		return dst, err
	}
	e.Vars.InsertID = e.insert.id
	return wire.RebuildOK(dst, packet, ok.AffectedRows, e.insert.countFrom)
}

// StampedParams are those of a spliced statement, or of a part of one.
func (e *Environment) StampedParams(w *Work, list []stamp.Param) []wire.Param {
	return e.stampedParams(nil, w.Params, list)
}

// stampedParams appends the parameters of the spliced statement: the client's,
// in their new places, and generated ones between them.
func (e *Environment) stampedParams(dst, params []wire.Param, list []stamp.Param) []wire.Param {
	for _, p := range list {
		if p.Bound >= 0 {
			dst = append(dst, params[p.Bound])
			continue
		}
		dst = append(dst, e.generatedParam(p.Value))
	}
	return dst
}

func (e *Environment) generatedParam(v stmt.Value) wire.Param {
	if v.Kind == stmt.Bytes || v.Kind == stmt.String {
		return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: v.Text}
	}
	e.integers = binary.LittleEndian.AppendUint64(e.integers, v.Bits())
	p := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: e.integers[len(e.integers)-8:]}
	if v.Kind == stmt.Uint {
		p.Flags = mysql.PARAM_UNSIGNED
	}
	return p
}
