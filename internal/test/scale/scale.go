// Package scale reports how much the tests of this run do. LOCUS_TEST_SCALE is one of three scales:
//
//   - "quick", for `go test ./...` while a change is written: random tests try fewer cases.
//   - "short", for `make test`, which a change must pass.
//   - "long", for `make test-long`, which leaves nothing out.
//
// If the variable is not set, the build tag long selects the long scale, the build tag servers the short one, and no tag the quick one.
//
// A test that runs in all scales takes its numbers from [Of] or [Quick]. A test that runs in the long scale only is in a file with the
// build tag long: the other scales neither compile it nor report it as skipped.
package scale

import (
	"flag"
	"fmt"
	"os"
)

const variable = "LOCUS_TEST_SCALE"

var current = scaleOf(os.Getenv(variable), tagged)

// Long reports whether this run is of the long scale.
func Long() bool { return current == "long" }

// Of returns the value for the scale of this run.
func Of[T any](short, whole T) T {
	if Long() {
		return whole
	}
	return short
}

// Quick returns the first value in the quick scale, and the other one in both others.
func Quick[T any](quick, other T) T {
	if current == "quick" {
		return quick
	}
	return other
}

// FewerChecks makes package rapid try fewer cases in the quick scale, unless the run has the flag
// -rapid.checks. It is for the TestMain of a package, after flags were parsed.
func FewerChecks() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	if current == "quick" && !given {
		if err := flag.Set(checks, "15"); err != nil {
			panic(err)
		}
	}
}

const checks = "rapid.checks"

// scaleOf returns the scale. It panics for an unknown value, so that a typing error does not select another
// scale.
func scaleOf(set, tagged string) string {
	switch set {
	case "":
		return tagged
	case "quick", "short", "long":
		return set
	}
	panic(fmt.Sprintf("%s is %q: it must be quick, short or long", variable, set))
}
