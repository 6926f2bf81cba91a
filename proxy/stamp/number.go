package stamp

import (
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/plan"
)

// Numbers gives numbers to AUTO_INCREMENT columns of tables whose rows are on several
// shards.
type Numbers interface {
	// Next gives the first of n consecutive numbers that the column holds, n at least 1. Nobody
	// else is given one of them, and they are above all that were given, or raised to, before.
	// An error means that none of them is used.
	Next(ctx context.Context, t *catalog.Table, n int) (first uint64, err error)
	// Raise has numbers that are given from now on be above this one.
	Raise(ctx context.Context, t *catalog.Table, above uint64) error
}

// asking stands for the number of a row that leaves it to the cluster.
const asking = ^uint64(0)

// number gives numbers to the rows that ask for one, in their order: one behind a row with a
// number of its own is above that, as on one server. All rows are looked at before the first is
// given.
func (s *Stamper) number(ctx context.Context) error {
	column, rows := s.in.Numbered(), s.in.Rows(s.v.Args)
	if column == nil {
		return nil
	}
	s.raised, s.v.Numbers = s.raised[:0], s.v.Numbers[:0]
	for i := range rows {
		n, asked, err := s.in.Number(s.v, i, s.ZeroIsNumber)
		if err != nil {
			return err
		}
		switch {
		case asked && s.Unnumbered != "":
			return refuse(plan.ServerNumbers, "row %d of an INSERT into %s, whose column %s is AUTO_INCREMENT: %s", i+1, s.in.Table.TableName, column.Name, s.Unnumbered)
		case asked:
			n = asking
		case n > column.LastInteger():
			return outOfRange(column, i)
		default:
			n = min(n, asking-1)
		}
		s.raised, s.v.Numbers = append(s.raised, n), append(s.v.Numbers, 0)
	}
	if rows > 0 && s.Numbers == nil {
		return fmt.Errorf("stamp %s: column %s is AUTO_INCREMENT, and this process has nothing to number it from", s.in.Table.TableName, column.Name)
	}
	for i := 0; i < rows; {
		end := i + 1
		for end < rows && (s.raised[i] == asking) == (s.raised[end] == asking) {
			end++
		}
		if err := s.numberRun(ctx, i, end); err != nil {
			return fmt.Errorf("number column %s of %s: %w: no row was inserted", column.Name, s.in.Table.TableName, err)
		}
		i = end
	}
	return nil
}

// outOfRange is what servers say of such a number in their strict modes. In others they would write the column's last number in its
// place, and no number would be left for rows that ask for one: nobody has meant that.
func outOfRange(c *catalog.Column, row int) *plan.Unknown {
	return &plan.Unknown{Number: mysql.ER_WARN_DATA_OUT_OF_RANGE, State: "22003", Message: fmt.Sprintf("Out of range value for column '%s' at row %d", c.Name, row+1)}
}

// numberRun takes rows that all ask, or all give their number.
func (s *Stamper) numberRun(ctx context.Context, from, to int) error {
	if s.raised[from] == asking {
		first, err := s.Numbers.Next(ctx, s.in.Table, to-from)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			s.v.Numbers[i] = first + uint64(i-from)
		}
		return nil
	}
	highest := uint64(0)
	for _, n := range s.raised[from:to] {
		highest = max(highest, n)
	}
	if highest == 0 {
		return nil
	}
	return s.Numbers.Raise(ctx, s.in.Table, highest)
}

// tellNumber has LAST_INSERT_ID() tell the first number, where no ID was issued.
func (s *Stamper) tellNumber() {
	if s.in.Numbered() == nil {
		return
	}
	for _, n := range s.v.Numbers {
		if n == 0 {
			continue
		}
		if !s.result.HasID {
			s.result.HasID, s.result.FirstID, s.result.CountFrom = true, orderid.ID{Lo: n}, n
		}
		s.result.Generated++
	}
}
