package plan

import (
	"math"
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// numberedHere notes where the value of an AUTO_INCREMENT column stands. It is numbered by the
// cluster; what is no integer would be numbered by each shard for itself.
func (in *Insertion) numberedHere() error {
	column := in.Table.Numbered()
	if column < 0 {
		return nil
	}
	in.numbered = slices.Index(in.Columns, column)
	switch c := &in.Table.Columns[column]; {
	case c.IsInteger():
		in.number = column
	case in.numbered < 0:
		return in.numbers(c.Name, "an INSERT into %s must give %s", in.Table.TableName, c.Name)
	}
	return nil
}

// rootNumbered tells a table whose owner is the AUTO_INCREMENT column: its rows are numbered
// before it is known where they go.
func (in *Insertion) rootNumbered() bool {
	return in.number >= 0 && in.Table.Root().Column == &in.Table.Columns[in.number]
}

// root reads what a row's gene is read from.
func (in *Insertion) root(v *Values, row int) stmt.Value {
	if in.Root < 0 { // it is numbered, and added
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

// asks tells whether a row leaves its number to the cluster, in most SQL modes.
func (in *Insertion) asks(v *Values, row int) bool {
	return in.numbered < 0 || Asked(in.written(v, row, in.numbered))
}

// Numbered gives the AUTO_INCREMENT column that the cluster numbers; nil: there is none.
func (in *Insertion) Numbered() *catalog.Column {
	if in == nil || in.number < 0 {
		return nil
	}
	return &in.Table.Columns[in.number]
}

// Number reads what a row says of its number: asked, that it leaves it to the cluster, else
// the number, 0 for one below. zero: 0 is a number as others are (NO_AUTO_VALUE_ON_ZERO).
func (in *Insertion) Number(v *Values, row int, zero bool) (n uint64, asked bool, err error) {
	if !in.Set && int(v.Args.Rows[row].Count) != len(in.Columns) {
		return 0, false, refuse(RowShape, "Column count doesn't match value count at row %d", row+1)
	}
	if in.numbered < 0 {
		return 0, true, nil
	}
	if err := in.rowNumbered(v, row); err != nil {
		return 0, false, err
	}
	value := in.written(v, row, in.numbered)
	given, ok := value.Integer()
	switch {
	case !ok, given.IsZero() && !zero:
		return 0, true, nil
	case given.Kind == stmt.Int && given.Int < 0:
		return 0, false, nil
	}
	return given.Bits(), false, nil
}

// numbers refuses rows that the shards would number.
func (in *Insertion) numbers(column, what string, args ...any) *Refusal {
	r := refuse(ServerNumbers, what, args...)
	r.Message += ", which is AUTO_INCREMENT and no integer: each shard would number it for itself, and numbers would repeat; give the number, or make " + column + " a BIGINT"
	return r
}

// rowNumbered refuses a row that leaves its number to the shards. 0 asks for one in
// most SQL modes, and so does what becomes 0.
func (in *Insertion) rowNumbered(v *Values, row int) error {
	if in.numbered < 0 {
		return nil
	}
	c := &in.Table.Columns[in.Columns[in.numbered]]
	value := in.written(v, row, in.numbered)
	n, ok := value.Integer()
	switch {
	case in.number < 0:
	case ok && !(c.Unsigned && n.Kind == stmt.Int && n.Int < 0), Asked(value): // below 0 may become 0, which a shard would number
		return nil
	default:
		return refuse(ServerNumbers, "row %d: %s for %s of %s, which is AUTO_INCREMENT: give a whole number, or leave it out and it is numbered", row+1, value, c.Name, in.Table.TableName)
	}
	if ok && !n.IsZero() && !(c.Unsigned && n.Kind == stmt.Int && n.Int < 0) {
		return nil
	}
	return in.numbers(c.Name, "row %d: %s for %s of %s", row+1, value, c.Name, in.Table.TableName)
}

// LastNumber gives the number that the last row has in an AUTO_INCREMENT column, which
// servers tell in the OK; 0 if there is no such column. The rows have been looked at.
func (in *Insertion) LastNumber(v *Values) uint64 {
	if in == nil || in.numbered < 0 || in.Rows(v.Args) == 0 {
		return 0
	}
	n, _ := in.Value(v, in.Rows(v.Args)-1, in.numbered).Integer()
	return n.Bits()
}
