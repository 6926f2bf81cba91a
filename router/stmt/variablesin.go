package stmt

import (
	"regexp"
	"strings"
)

// userVariable matches a user variable's name anywhere in a text, including strings and comments.
var userVariable = regexp.MustCompile("@(?:`((?:[^`]|``)+)`|'((?:[^'\\\\]|''|\\\\.)+)'|\"((?:[^\"\\\\]|\"\"|\\\\.)+)\"|([\\p{L}\\p{N}_.$]+))")

// spelled unescapes the quoted forms of a name.
var spelled = [...]*strings.Replacer{
	1: strings.NewReplacer("``", "`"), 2: strings.NewReplacer("''", "'", `\\`, `\`, `\`, ""), 3: strings.NewReplacer(`""`, `"`, `\\`, `\`, `\`, ""), 4: strings.NewReplacer(),
}

// VariablesIn lists the user variables that a stored body may name, in lower case. It doesn't parse SQL, so the list may include
// system variables and other similar text.
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
