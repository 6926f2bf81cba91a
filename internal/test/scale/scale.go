// Package scale reports how much the tests of this run do. LOCUS_TEST_SCALE is "short", which a change must pass, or "long", which leaves
// nothing out. If it is not set, the build tag long selects the long scale.
//
// A test that runs in both scales takes its numbers from [Of]. A test that runs in the long scale only is in a file with the build tag
// long: the short scale neither compiles it nor reports it as skipped. `make test-long` sets both.
package scale

import (
	"fmt"
	"os"
)

const variable = "LOCUS_TEST_SCALE"

var long = isLong(os.Getenv(variable), tagged)

// Long reports whether this run is of the long scale.
func Long() bool { return long }

// Of returns the value for the scale of this run.
func Of[T any](short, whole T) T {
	if long {
		return whole
	}
	return short
}

// isLong panics for an unknown scale: a typing error must not select the short one.
func isLong(set string, tagged bool) bool {
	switch set {
	case "":
		return tagged
	case "short", "long":
		return set == "long"
	}
	panic(fmt.Sprintf("%s is %q: it must be short or long", variable, set))
}
