package plan

import (
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// numberedHere notes where the value of an AUTO_INCREMENT column stands: each shard
// would number it for itself.
func (in *Insertion) numberedHere() error {
	column := in.Table.Numbered()
	if column < 0 {
		return nil
	}
	if in.numbered = slices.Index(in.Columns, column); in.numbered < 0 {
		return in.numbers(in.Table.Columns[column].Name, "an INSERT into %s must give %s", in.Table.TableName, in.Table.Columns[column].Name)
	}
	return nil
}

// numbers refuses rows that the shards would number.
func (in *Insertion) numbers(column, what string, args ...any) *Refusal {
	r := refuse(ServerNumbers, what, args...)
	if in.Table.Kind == catalog.Global {
		r.Message += ", which is AUTO_INCREMENT: the shards would number it differently; give the number"
		return r
	}
	r.Message += ", which is AUTO_INCREMENT: each shard would number it for itself, and numbers would repeat; give the number, or declare " + column +
		" in cluster.yaml as the table's id, or below stamped with a generator, and drop AUTO_INCREMENT"
	return r
}

// rowNumbered refuses a row that leaves its number to the shards. 0 asks for one in
// most SQL modes, and so does what becomes 0.
func (in *Insertion) rowNumbered(v *Values, row int) error {
	if in.numbered < 0 {
		return nil
	}
	c := &in.Table.Columns[in.Columns[in.numbered]]
	value := in.Value(v, row, in.numbered)
	n, ok := value.Integer()
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
