package catalog

import (
	"fmt"
	"strings"
)

// Rename is a table's former and its new name.
type Rename struct{ From, To TableName }

// RenamingError is a name of a table that is being renamed: nothing may be done with the table until
// all shards have renamed it.
type RenamingError struct {
	Name TableName
	// Renames are done together.
	Renames []Rename
}

func (e *RenamingError) Error() string {
	return fmt.Sprintf("table %s is being renamed, and served again once all shards have done it: try again; if whoever renamed it is gone, %s finishes it, "+
		"wherever it was done", e.Name, RenameStatement(e.Renames))
}

// RenameStatement is the statement that renames tables.
func RenameStatement(list []Rename) string {
	pairs := make([]string, len(list))
	for i, r := range list {
		pairs[i] = r.From.quoted() + " TO " + r.To.quoted()
	}
	return "RENAME TABLE " + strings.Join(pairs, ", ")
}

// Net is what a list of renames comes to, of which each is done after the one before: without names that
// are there only meanwhile. It is in an order in which each new name is free when its turn comes. The error
// says why it can't be.
func Net(list []Rename) ([]Rename, error) {
	var net []Rename
	for _, r := range list {
		for _, before := range net {
			if before.To == r.To && before.To != r.From {
				return nil, fmt.Errorf("two tables would be called %s", r.To)
			}
		}
		through := false
		for i := range net {
			if net[i].To == r.From {
				net[i].To, through = r.To, true
			}
		}
		if !through {
			net = append(net, r)
		}
	}
	return InOrder(net)
}

// InOrder has each table renamed away before another one is given its name. The renames are as of one moment: none
// goes on from another.
func InOrder(net []Rename) (ordered []Rename, err error) {
	waiting := map[TableName]Rename{}
	for _, r := range net {
		if _, twice := waiting[r.From]; twice {
			return nil, fmt.Errorf("table %s would have two names", r.From)
		}
		waiting[r.From] = r
	}
	for len(waiting) > 0 {
		before := len(waiting)
		for _, r := range net {
			if _, waits := waiting[r.From]; !waits {
				continue
			}
			if _, taken := waiting[r.To]; !taken {
				ordered = append(ordered, r)
				delete(waiting, r.From)
			}
		}
		if len(waiting) == before {
			return nil, fmt.Errorf("tables would change names in a circle, of which nobody could tell whether a shard has done it: rename one of them away by a statement of its own, then the others")
		}
	}
	return ordered, nil
}
