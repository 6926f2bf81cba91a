package main

import (
	"fmt"
	"strings"

	"locus/control/ops"
)

// whose describes which proxies have counted a load.
func whose(l *ops.Load) string {
	text := "counted by " + quantity(l.Proxies, "proxy") + " in the last minutes"
	if len(l.Silent) > 0 {
		text += "; no answer from " + strings.Join(l.Silent, ", ")
	}
	return text
}

// part returns a share as a text.
func part(of, all float64) string {
	if all <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*of/all)
}
