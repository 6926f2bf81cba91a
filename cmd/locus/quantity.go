package main

import (
	"fmt"
	"strings"
)

// quantity writes a number of things, of which there may be one.
func quantity(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	case strings.HasSuffix(thing, "xy"):
		thing = strings.TrimSuffix(thing, "y") + "ies"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
