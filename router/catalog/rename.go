package catalog

import (
	"fmt"
	"strings"
)

// Rename is the old and the new name of a table.
type Rename struct{ From, To TableName }

// RenamingError reports a statement on a table that is being renamed. The table can't be used until all shards have renamed it.
type RenamingError struct {
	Name TableName
	// Renames are the renames of the one statement.
	Renames []Rename
}

func (e *RenamingError) Error() string {
	return fmt.Sprintf("table %s is being renamed, and served again once all shards have done it: try again; if the session that renamed it has ended, %s "+
		"completes the rename on every shard", e.Name, RenameStatement(e.Renames))
}

// RenameStatement returns the statement that renames tables.
func RenameStatement(list []Rename) string {
	pairs := make([]string, len(list))
	for i, r := range list {
		pairs[i] = r.From.quoted() + " TO " + r.To.quoted()
	}
	return "RENAME TABLE " + strings.Join(pairs, ", ")
}

// NetRenames returns the net effect of a list of renames that are done one after the other. It omits names that exist only in between. The result is
// in the order of [InOrder]. Net returns an error if two tables would get one name, or if [InOrder] does.
func NetRenames(list []Rename) ([]Rename, error) {
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

// InOrder sorts renames so that each new name is free when its turn comes. All renames refer to the names at one moment: none continues
// another. It returns an error if a table is renamed twice, or if tables would exchange their names.
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
			return nil, fmt.Errorf("tables would exchange their names, and a shard's state could not show whether it has done that: first rename one of them to another name in a statement of its own, then the others")
		}
	}
	return ordered, nil
}
