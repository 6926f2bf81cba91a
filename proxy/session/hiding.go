package session

import (
	"bytes"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// runHiding answers SHOW and DESCRIBE of a table that has the column for the gene. The answer doesn't contain that column.
func (s *Session) runHiding(r *exec.Execution, p *plan.OneShard) error {
	text, err := s.withValues(r)
	if err != nil {
		return err
	}
	shown, _, err := s.shownBy(r, p, s.vars.Settings, text)
	if err != nil {
		return err
	}
	shown.Rows = withoutGene(shown.Columns, shown.Rows)
	s.vars.RowCount, s.vars.FoundRows = -1, uint64(len(shown.Rows))
	return s.writeRows(shown.Columns, shown.Rows)
}

// shownBy returns a shard's answer to a text under some settings, and the shard. If the plan's shard is unhealthy and all shards
// have the same answer, another one is queried.
func (s *Session) shownBy(r *exec.Execution, p *plan.OneShard, settings *backend.Settings, text []byte) (shown *backend.Rows, by router.ShardName, err error) {
	s.Counts.OneShard.Add(1)
	on := s.engine.StandIns(r.Snapshot)
	if p.Named || !p.Alike {
		on = exec.Candidates{Shards: []router.ShardName{p.Shard}}
	}
	err = s.engine.Anywhere(on, true, func(shard router.ShardName, how txn.Mode) error {
		by = shard
		l, err := r.LendApart(shard, how, settings)
		if err != nil {
			return err
		}
		shown, err = l.Conn.Query(s.ctx, string(text))
		l.End(err)
		return err
	})
	return shown, by, err
}

// withoutGene removes the column for the gene from the answer to SHOW COLUMNS, SHOW INDEX or SHOW CREATE TABLE.
func withoutGene(columns []wire.Column, rows [][][]byte) [][][]byte {
	at := func(name string) int {
		return slices.IndexFunc(columns, func(c wire.Column) bool { return string(c.Name) == name })
	}
	if made := at("Create Table"); made >= 0 {
		for _, row := range rows {
			row[made] = withoutLines(row[made])
		}
		return rows
	}
	named := max(at("Field"), at("Column_name"))
	return slices.DeleteFunc(rows, func(row [][]byte) bool { return named >= 0 && string(row[named]) == catalog.OwnGene })
}

// withoutLines removes the column for the gene and its index from a CREATE TABLE that a server has written. Each part of such a
// text is on a line of its own, with commas between the parts.
func withoutLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	kept := slices.DeleteFunc(lines, func(line []byte) bool {
		line, indented := bytes.CutPrefix(line, []byte("  "))
		line = bytes.TrimPrefix(line, []byte("KEY "))
		return indented && len(line) > 0 && string(bytes.Trim(bytes.SplitN(line, []byte(" "), 2)[0], "`\"")) == catalog.OwnGene
	})
	for i := 1; i < len(kept); i++ {
		if bytes.HasPrefix(kept[i], []byte(")")) {
			kept[i-1] = bytes.TrimSuffix(kept[i-1], []byte(","))
			break
		}
	}
	return bytes.Join(kept, []byte("\n"))
}
