package stamp

import (
	"locus/router/plan"
)

// edit is a column of every row whose value may be replaced.
type edit struct {
	stamp plan.Stamp
	at    int
}

// findEdits lists the stamped columns that the statement names.
func (s *Stamper) findEdits() {
	for stamp, at := range s.in.Places() {
		if at < 0 {
			continue
		}
		i := len(s.edits)
		s.edits = append(s.edits, edit{})
		for ; i > 0 && s.edits[i-1].at > at; i-- {
			s.edits[i] = s.edits[i-1]
		}
		s.edits[i] = edit{plan.Stamp(stamp), at}
	}
}

// write writes the text for every shard with rows.
func (s *Stamper) write(added []plan.Splice) error {
	s.findEdits()
	s.spliceNames()
	for _, a := range added {
		s.splice(s.v.Offset(a.At), a.Text)
	}
	if s.in.Set {
		return s.writeSet()
	}
	if s.in.OneByOne() {
		for i := range s.rows {
			s.writePart(s.rows[i].shard, 1, func(other int) bool { return other == i })
		}
		return nil
	}
	s.countRows()
	for shard, rows := range s.counts {
		switch rows {
		case 0:
		case len(s.rows):
			s.writeAll(shard)
		default:
			s.writePart(shard, rows, func(i int) bool { return s.rows[i].shard == shard })
		}
	}
	return nil
}

// spliceNames inserts the names of added columns at the end of the column list.
func (s *Stamper) spliceNames() {
	if !s.in.Names() {
		return
	}
	from := len(s.names)
	for i, stamp := range s.in.Added {
		if i > 0 || len(s.in.Columns) > 0 {
			s.names = append(s.names, ", "...)
		}
		s.names = appendName(s.names, s.column(stamp).Name)
	}
	s.out.splices = append(s.out.splices, splice{s.v.Offset(s.in.List), s.names[from:]})
}

func (s *Stamper) splice(at int, text string) {
	from := len(s.names)
	s.names = append(s.names, text...)
	s.out.splices = append(s.out.splices, splice{at, s.names[from:]})
}

func (s *Stamper) countRows() {
	s.counts = s.counts[:0]
	for i := range s.rows {
		for len(s.counts) <= s.rows[i].shard {
			s.counts = append(s.counts, 0)
		}
		s.counts[s.rows[i].shard]++
	}
}

// writeAll writes all rows, with the original text between them.
func (s *Stamper) writeAll(shard int) {
	s.begin(shard, len(s.rows))
	for i := range s.rows {
		s.writeRow(i)
	}
	s.end()
}

// writePart writes some rows of one shard, with new separators.
func (s *Stamper) writePart(shard, rows int, part func(i int) bool) {
	s.begin(shard, rows)
	all := s.v.Args.Rows
	s.out.upTo(int(all[0].Open))
	first := true
	for i := range s.rows {
		if !part(i) {
			continue
		}
		if !first {
			s.out.put(", ")
		}
		first = false
		s.out.passOver(int(all[i].Open))
		s.writeRow(i)
	}
	s.out.passOver(int(all[len(all)-1].Close) + 1)
	s.end()
}

// writeRow writes a row including its closing parenthesis.
func (s *Stamper) writeRow(i int) {
	row := s.v.Args.Rows[i]
	for _, e := range s.edits {
		if !s.rows[i].asked.has(e.stamp) {
			continue
		}
		from, to := s.v.Bare(s.v.Cells[int(row.First)+e.at])
		s.out.upTo(from)
		s.writeValue(i, e.stamp)
		s.out.passOver(to)
	}
	s.out.upTo(int(row.Close))
	for n, stamp := range s.in.Added {
		if n > 0 || row.Count > 0 {
			s.out.put(", ")
		}
		s.writeValue(i, stamp)
	}
	s.out.upTo(int(row.Close) + 1)
}
