package plan

import (
	"math"
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// locateNumber sets the position of the value of an AUTO_INCREMENT column. The cluster numbers integer columns. It refuses an
// INSERT that leaves out a column of another type, because each shard would number that one by itself.
func (in *Insertion) locateNumber() error {
	column := in.Table.Numbered()
	if column < 0 {
		return nil
	}
	in.numbered = slices.Index(in.Columns, column)
	switch c := &in.Table.Columns[column]; {
	case c.IsInteger():
		in.number = column
	case in.numbered < 0:
		return in.refuseNumbers(c.Name, "an INSERT into %s must give %s", in.Table.TableName, c.Name)
	}
	return nil
}

// rootNumbered reports whether the owner is the AUTO_INCREMENT column. The rows must then be numbered before their shards are
// known.
func (in *Insertion) rootNumbered() bool {
	return in.number >= 0 && in.Table.Root().Column == &in.Table.Columns[in.number]
}

// root returns the value from which a row's gene is computed.
func (in *Insertion) root(v *Values, row int) stmt.Value {
	if in.Root < 0 { // the column is added, with an issued number
		return numberValue(v.Numbers[row])
	}
	return in.Value(v, row, in.Root)
}

func numberValue(n uint64) stmt.Value {
	if n > math.MaxInt64 {
		return stmt.UintValue(n)
	}
	return stmt.IntValue(int64(n))
}

// asksNumber reports whether a row leaves its number to the cluster. In the mode NO_AUTO_VALUE_ON_ZERO it doesn't if the value is 0.
func (in *Insertion) asksNumber(v *Values, row int) bool {
	return in.numbered < 0 || AsksForValue(in.written(v, row, in.numbered))
}

// Numbered returns the AUTO_INCREMENT column that the cluster numbers, or nil if there is none.
func (in *Insertion) Numbered() *catalog.Column {
	if in == nil || in.number < 0 {
		return nil
	}
	return &in.Table.Columns[in.number]
}

// Number returns the number in a row, or 0 for a negative one. asked is true if the row leaves its number to the cluster.
// zero is true if 0 is a number like others (NO_AUTO_VALUE_ON_ZERO). DEFAULT is 0 then.
func (in *Insertion) Number(v *Values, row int, zero bool) (n uint64, asked bool, err error) {
	if !in.Set && int(v.Args.Rows[row].Count) != len(in.Columns) {
		return 0, false, refuse(RowShape, "Column count doesn't match value count at row %d", row+1)
	}
	if in.numbered < 0 {
		return 0, true, nil
	}
	if err := in.checkRowNumber(v, row); err != nil {
		return 0, false, err
	}
	value := in.written(v, row, in.numbered)
	given, ok := value.Integer()
	switch {
	case zero && value.Kind == stmt.Default: // servers take it for 0
		return 0, false, nil
	case !ok, given.IsZero() && !zero:
		return 0, true, nil
	case given.Kind == stmt.Int && given.Int < 0:
		return 0, false, nil
	}
	return given.Bits(), false, nil
}

// refuseNumbers returns the refusal of rows that the shards would number.
func (in *Insertion) refuseNumbers(column, what string, args ...any) *Refusal {
	r := refuse(ServerNumbers, what, args...)
	r.Message += ", which is AUTO_INCREMENT and no integer: each shard would number it for itself, and numbers would repeat; give the number, or make " + column + " a BIGINT"
	return r
}

// checkRowNumber refuses a row that leaves its number to the shards. 0 asks for a number in most SQL modes, and so does a value that
// becomes 0.
func (in *Insertion) checkRowNumber(v *Values, row int) error {
	if in.numbered < 0 {
		return nil
	}
	c := &in.Table.Columns[in.Columns[in.numbered]]
	value := in.written(v, row, in.numbered)
	n, ok := value.Integer()
	switch {
	case in.number < 0:
	case ok && !(c.Unsigned && n.Kind == stmt.Int && n.Int < 0), AsksForValue(value): // a negative value may become 0, which a shard would number
		return nil
	default:
		return refuse(ServerNumbers, "row %d: %s for %s of %s, which is AUTO_INCREMENT: give a whole number, or leave it out and it is numbered", row+1, value, c.Name, in.Table.TableName)
	}
	if ok && !n.IsZero() && !(c.Unsigned && n.Kind == stmt.Int && n.Int < 0) {
		return nil
	}
	return in.refuseNumbers(c.Name, "row %d: %s for %s of %s", row+1, value, c.Name, in.Table.TableName)
}

// LastNumber returns the number of the last row in an AUTO_INCREMENT column, which servers return in the OK packet. It returns 0
// if there is no such column. The rows must have been checked.
func (in *Insertion) LastNumber(v *Values) uint64 {
	if in == nil || in.numbered < 0 || in.Rows(v.Args) == 0 {
		return 0
	}
	n, _ := in.Value(v, in.Rows(v.Args)-1, in.numbered).Integer()
	return n.Bits()
}
