package main

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// want describes a correct answer. A step with another answer fails the row, because the speed of wrong answers
// is irrelevant.
type want struct {
	rows     uint64
	affected uint64
	first    field // the expected first column of the first row; noField: not checked
}

// check compares an answer. prepared means that rows are in the binary protocol.
func (w want) check(a *answer, d *draw, prepared bool) error {
	if a.rows != w.rows {
		return fmt.Errorf("%d rows where %d are due", a.rows, w.rows)
	}
	if a.affected != w.affected {
		return fmt.Errorf("%d rows affected where %d are due", a.affected, w.affected)
	}
	if w.first == noField {
		return nil
	}
	got, ok := firstColumn(a, prepared)
	if !ok || got != d[w.first] {
		return fmt.Errorf("the first row is another's: its first column is %d where %d is due", got, d[w.first])
	}
	return nil
}

// firstColumn reads a BIGINT column.
func firstColumn(a *answer, prepared bool) (int64, bool) {
	if !prepared {
		n, rest, ok := lengthEncoded(a.firstRow)
		if !ok || n > uint64(len(rest)) {
			return 0, false
		}
		v, err := strconv.ParseInt(string(rest[:n]), 10, 64)
		return v, err == nil
	}
	nulls := int(a.columns+9) / 8
	if len(a.firstRow) < 1+nulls+8 || a.firstRow[1]&4 != 0 {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(a.firstRow[1+nulls:])), true
}
