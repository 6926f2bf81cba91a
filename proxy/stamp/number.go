package stamp

import (
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/plan"
)

// Numbers generates numbers for AUTO_INCREMENT columns of tables whose rows are on several shards.
type Numbers interface {
	// Next returns the first of n consecutive numbers, all valid for the column. n is at least 1. The numbers are unique and
	// greater than all numbers returned or raised to before. After an error none of them is used.
	Next(ctx context.Context, t *catalog.Table, n int) (first uint64, err error)
	// Raise makes all later numbers greater than above.
	Raise(ctx context.Context, t *catalog.Table, above uint64) error
}

// asking marks a row that requests a number.
//
// No server generates this value either: it is the greatest BIGINT UNSIGNED, so no number could follow it.
const asking = ^uint64(0)

// number assigns numbers in order to the rows that request one. As on a single server, a row after one with a given number gets a
// greater number. All rows are validated before the first number is assigned.
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
			return notIssued(ctx, fmt.Sprintf("number column %s of %s", column.Name, s.in.Table.TableName), err)
		}
		i = end
	}
	return nil
}

// outOfRange returns the servers' error for such a number in strict modes. In other modes a server would store
// the column's largest value instead, which would leave no numbers for further rows.
func outOfRange(c *catalog.Column, row int) *plan.Unknown {
	return &plan.Unknown{Number: mysql.ER_WARN_DATA_OUT_OF_RANGE, State: "22003", Message: fmt.Sprintf("Out of range value for column '%s' at row %d", c.Name, row+1)}
}

// numberRun handles consecutive rows that all request a number, or all give one.
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

// tellNumber sets LAST_INSERT_ID() to the first number if no ID was issued.
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
