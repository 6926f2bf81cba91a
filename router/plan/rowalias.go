package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/router/stmt"
)

// aliased names the columns that are added to the rows in the row alias of an INSERT. A server expects a name for each column of a
// row. Without the client's own list, the alias would get the added columns, and a column that is written without a table would be
// ambiguous.
func (in *Insertion) aliased(n *stmt.Insertion) []Splice {
	if n.As == nil || in == nil || len(in.Added) == 0 {
		return nil
	}
	given := n.As.Columns
	if given == nil {
		for _, column := range in.Columns {
			given = append(given, in.Table.Columns[column].Name)
		}
	}
	added := in.addedNames(given)
	switch {
	case n.As.Columns == nil && in.Set: // added columns are the first ones of a SET
		return []Splice{{n.As.Last, "(" + quoteAll(append(added, given...)) + ")"}}
	case n.As.Columns == nil:
		return []Splice{{n.As.Last, "(" + quoteAll(append(slices.Clone(given), added...)) + ")"}}
	case in.Set:
		return []Splice{{n.As.First, quoteAll(added) + ", "}}
	}
	return []Splice{{n.As.Last, ", " + quoteAll(added)}}
}

// addedNames returns a name for each added column that is none of the given names, and none of the table's.
func (in *Insertion) addedNames(given []string) (names []string) {
	for i := 0; len(names) < len(in.Added); i++ {
		name := "locus_added_" + strconv.Itoa(i)
		if _, is := in.Table.Column(name); !is && !slices.ContainsFunc(given, func(other string) bool { return strings.EqualFold(name, other) }) {
			names = append(names, name)
		}
	}
	return names
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote(name)
	}
	return strings.Join(quoted, ", ")
}
