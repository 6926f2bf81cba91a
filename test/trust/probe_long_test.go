//go:build long

package trust

// usualCharsets, usualBytes and usualLetters: all that there are.
var (
	usualCharsets []string
	usualBytes    []byte
	usualLetters  string
)
