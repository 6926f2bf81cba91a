package stamp

import (
	"locus/idgen/orderid"
	"locus/router/plan"
)

// Generated lists the IDs that were generated for rows of the last statement, in the order of the rows. They are the IDs of which
// Result.FirstID is the first.
func (s *Stamper) Generated() (list []plan.Issued) {
	for i := range s.rows {
		r := &s.rows[i]
		switch {
		case r.group >= 0:
			list = append(list, plan.Issued{Row: i, Shard: r.shard, Layout: r.layout, ID: r.id})
		case s.in.Table.IDColumn < 0 && len(s.v.Numbers) > 0 && s.v.Numbers[i] != 0:
			list = append(list, plan.Issued{Row: i, Shard: r.shard, ID: orderid.ID{Lo: s.v.Numbers[i]}})
		}
	}
	return list
}

// RowsOf returns the numbers in the statement, counted from 1, of the rows that a shard has.
func (s *Stamper) RowsOf(shard int) (numbers []int) {
	for i := range s.rows {
		if s.rows[i].shard == shard {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}
