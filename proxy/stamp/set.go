package stamp

import "locus/router/plan"

// writeSet writes an INSERT … SET, which has one row.
func (s *Stamper) writeSet() error {
	s.begin(s.rows[0].shard, 1)
	list := s.v.Offset(s.in.List)
	s.out.upTo(list)
	for _, stamp := range s.in.Added {
		s.out.put(" ")
		s.out.text = appendName(s.out.text, s.column(stamp).Name)
		s.out.put(" = ")
		s.writeValue(0, stamp)
		s.out.put(",")
	}
	for _, e := range s.edits {
		if !s.rows[0].asked.has(e.stamp) {
			continue
		}
		from, to, ok := s.v.Assigned(list, e.at)
		if !ok {
			return refuse(plan.Unreadable, "the value of %s could not be found in the text: leave the column out and it is generated", s.column(e.stamp).Name)
		}
		s.out.upTo(from)
		s.writeValue(0, e.stamp)
		s.out.passOver(to)
	}
	s.end()
	return nil
}
