package stand

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// left counts, by their kind, the statements after which a connection is not lent again without a reset.
type left map[string]int

// note counts a statement, by the state that it may leave and its first words.
func (l left) note(leaves, digest string) {
	words := strings.Fields(digest)
	l[leaves+": "+strings.Join(words[:min(kindWords(words), len(words))], " ")]++
}

// kindWords returns how many words identify the kind of a statement: two for CREATE TABLE, one for SELECT.
func kindWords(words []string) int {
	if len(words) == 0 {
		return 0
	}
	switch words[0] {
	case "CREATE", "DROP", "ALTER", "SET", "SHOW", "LOCK", "XA", "ANALYZE", "RENAME", "TRUNCATE":
		return 3
	}
	return 1
}

// String returns the most frequent ones.
func (l left) String() string {
	kinds := slices.SortedFunc(maps.Keys(l), func(a, b string) int { return cmp.Or(l[b]-l[a], strings.Compare(a, b)) })
	var list []string
	for _, kind := range kinds[:min(mostKinds, len(kinds))] {
		list = append(list, fmt.Sprintf("%s %d", kind, l[kind]))
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

const mostKinds = 25
