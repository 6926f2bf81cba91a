package session

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stamp"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// runStamped runs an INSERT into a sharded table.
func (s *Session) runStamped(r *request) error {
	result, err := s.stamped(r)
	if err != nil {
		return err
	}
	s.Counts.Stamped.Add(uint64(result.Generated))
	if len(result.Shards) == 1 {
		return s.insertOne(r, result)
	}
	parts := make([]part, 0, len(result.Shards))
	shards := r.world.Map.Shards()
	for _, text := range result.Shards {
		parts = append(parts, part{shard: shards[text.Shard], text: text.Text, params: s.stampedParams(text.Params)})
	}
	total, err := s.runParts(r, parts)
	if err != nil {
		return err
	}
	rows := len(result.Genes)
	ok := wire.OK{AffectedRows: total.affected, Warnings: total.warnings}
	if result.HasID && total.affected > 0 {
		s.insertID = result.FirstID.Lo
		ok.LastInsertID = s.insertID
	}
	duplicates := max(0, int64(total.affected)-int64(rows))
	if r.plan.Statement.Insert.Ignore {
		duplicates = max(0, int64(rows)-int64(total.affected))
	}
	ok.Info = fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", rows, duplicates, total.warnings)
	if err := s.writeOK(ok); err != nil {
		return &clientGone{err}
	}
	return nil
}

func (s *Session) stamped(r *request) (*stamp.Result, error) {
	if r.statement != nil {
		return s.stamper.StampPrepared(s.ctx, r.plan, r.values, r.world.Map, s.IDs, s.Ring)
	}
	return s.stamper.StampText(s.ctx, r.plan, r.values, r.world.Map, s.IDs, s.Ring)
}

// insertOne runs an INSERT whose rows are all on one shard.
func (s *Session) insertOne(r *request, result *stamp.Result) error {
	only := result.Shards[0]
	var last ending
	if result.HasID {
		last = s.insertEnding(r, result)
	}
	s.Counts.OneShard.Add(1)
	var params []wire.Param
	if r.statement != nil {
		params = s.stampedParams(only.Params)
	}
	return s.exchange(r, r.world.Map.Shards()[only.Shard], only.Text, params, last)
}

// insertEnding puts the first generated ID into the OK, and keeps it as
// LAST_INSERT_ID(), if a row was inserted by it: one that took the place of
// nothing counts 1, and one that was updated instead counts 2 or 0.
func (s *Session) insertEnding(r *request, result *stamp.Result) ending {
	id, single := result.FirstID.Lo, len(result.Genes) == 1
	updates := len(r.plan.Statement.Insert.Update) > 0
	return func(dst, packet []byte) ([]byte, error) {
		if ok, has := s.scanner.OK(); has && (ok.AffectedRows == 0 || (updates && single && ok.AffectedRows != 1)) {
			return append(dst, packet...), nil
		}
		if packet[wire.HeaderSize] == mysql.OK_HEADER {
			s.insertID = id
		}
		return withInsertID(id)(dst, packet)
	}
}

// stampedParams makes the parameters of the spliced statement: the client's, in
// their new places, and generated ones between them.
func (s *Session) stampedParams(list []stamp.Param) []wire.Param {
	out := make([]wire.Param, 0, len(list))
	for _, p := range list {
		if p.Bound >= 0 {
			out = append(out, s.params[p.Bound])
			continue
		}
		out = append(out, generatedParam(p.Value))
	}
	return out
}

func generatedParam(v stmt.Value) wire.Param {
	if v.Kind == stmt.Bytes {
		return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: v.Text}
	}
	p := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: make([]byte, 8)}
	bits := v.Bits()
	for i := range p.Value {
		p.Value[i] = byte(bits >> (8 * i))
	}
	if v.Kind == stmt.Uint {
		p.Flags = mysql.PARAM_UNSIGNED
	}
	return p
}
