package stmt

import (
	"regexp"
	"strings"
)

// userVariable is a user variable's name wherever the text has one, in strings and comments too.
var userVariable = regexp.MustCompile("@(?:`((?:[^`]|``)+)`|'([^']+)'|\"([^\"]+)\"|([\\p{L}\\p{N}_.$]+))")

// VariablesIn lists the user variables that a stored body may name, in lower case. It reads no SQL and gives some that are none:
// system variables, and what only looks like one.
func VariablesIn(body string) (names []string) {
	for _, found := range userVariable.FindAllStringSubmatch(body, -1) {
		name := strings.ReplaceAll(found[1], "``", "`") + found[2] + found[3] + found[4]
		names = append(names, strings.ToLower(name))
	}
	return names
}
