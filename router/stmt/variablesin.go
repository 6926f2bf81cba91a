package stmt

import (
	"regexp"
	"strings"
)

// userVariable is a user variable's name wherever the text has one, in strings and comments too.
var userVariable = regexp.MustCompile("@(?:`((?:[^`]|``)+)`|'((?:[^'\\\\]|''|\\\\.)+)'|\"((?:[^\"\\\\]|\"\"|\\\\.)+)\"|([\\p{L}\\p{N}_.$]+))")

// spelled is what the quoted forms of a name mean.
var spelled = [...]*strings.Replacer{
	1: strings.NewReplacer("``", "`"), 2: strings.NewReplacer("''", "'", `\\`, `\`, `\`, ""), 3: strings.NewReplacer(`""`, `"`, `\\`, `\`, `\`, ""), 4: strings.NewReplacer(),
}

// VariablesIn lists the user variables that a stored body may name, in lower case. It reads no SQL and gives some that are none:
// system variables, and what only looks like one.
func VariablesIn(body string) (names []string) {
	for _, found := range userVariable.FindAllStringSubmatch(body, -1) {
		for form, name := range found[1:] {
			if name != "" {
				names = append(names, strings.ToLower(spelled[form+1].Replace(name)))
			}
		}
	}
	return names
}
