package main

import (
	"fmt"
	"strings"
)

// quantity returns a number with a noun in the singular or plural.
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
