package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Primary is the name of the primary key.
const Primary = "PRIMARY"

// rowKey returns the unique index that identifies rows, and the others. It is the primary key, or else the smallest unique
// index of whole columns that are NOT NULL and that the table stores. Servers with the same indexes choose the same one.
func rowKey(columns []Column, unique []Index) (key Index, others []Index, err error) {
	at := slices.IndexFunc(unique, func(x Index) bool { return x.Name == Primary })
	if at >= 0 {
		err = walkable(columns, unique[at])
	} else {
		at, err = smallestKey(columns, unique)
	}
	if err != nil {
		return Index{}, nil, err
	}
	return unique[at], slices.Delete(slices.Clone(unique), at, at+1), nil
}

// walkable reports why a table can't be traversed by its primary key.
func walkable(columns []Column, primary Index) error {
	for _, i := range primary.Columns {
		if i < 0 {
			return errors.New("the primary key has a part of a column, which does not tell rows apart in order; use whole columns")
		}
		if !columns[i].Orders() {
			return fmt.Errorf("column %s of the primary key is %s, which a table can't be walked by; use a key of integers, text, bytes or times",
				columns[i].Name, columns[i].FullType)
		}
	}
	return nil
}

// errNoKey means that no key identifies the rows of a table.
var errNoKey = errors.New("it has no primary key, and no unique key of whole NOT NULL columns that it stores, of integers, text, bytes or times: " +
	"rows can't be told apart; add one of them")

// smallestKey returns the unique index with the fewest columns that identifies rows. Of several, it is the one with the shortest
// values, then the first by name.
func smallestKey(columns []Column, unique []Index) (at int, err error) {
	best := -1
	for i := range unique {
		if identifies(columns, unique[i]) && (best < 0 || smaller(columns, unique[i], unique[best])) {
			best = i
		}
	}
	if best < 0 {
		return 0, errNoKey
	}
	return best, nil
}

func identifies(columns []Column, x Index) bool {
	return !x.unused && !slices.ContainsFunc(x.Columns, func(i int) bool {
		return i < 0 || columns[i].Nullable || columns[i].virtual || !columns[i].Orders() || columns[i].large()
	})
}

func smaller(columns []Column, a, b Index) bool {
	return cmp.Or(cmp.Compare(len(a.Columns), len(b.Columns)), cmp.Compare(a.length(columns), b.length(columns)), cmp.Compare(a.Name, b.Name)) < 0
}

// length returns the maximal length of an index's values, in characters or bytes. A value that is not text
// counts 8.
func (x Index) length(columns []Column) (n int) {
	for _, i := range x.Columns {
		n += cmp.Or(columns[i].Length, 8)
	}
	return n
}
