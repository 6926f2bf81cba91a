//go:build long

package trust

// usualCharsets and usualBytes: all that there are.
var (
	usualCharsets []string
	usualBytes    []byte
)
