//go:build !long

package trust

var usualCharsets = []string{"utf8mb4", "latin1"}

// usualBytes are one of each kind.
var usualBytes = []byte("\x00\x01\t '`;-/!M1\\\x7f\xa0\xc2\xff")

const usualLetters = "\u00a0é\u2028\U0001f600"
