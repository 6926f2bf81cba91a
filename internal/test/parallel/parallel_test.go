package parallel

import (
	"flag"
	"strconv"
	"testing"
)

// A flag of the run wins.
func TestRaise(t *testing.T) {
	for want, arguments := range map[int][]string{16: nil, 3: {"-test.parallel=3"}, 2: {"-test.parallel=2"}} {
		flags := flag.NewFlagSet(strconv.Itoa(want), flag.PanicOnError)
		limit := flags.Int(name, 2, "")
		if err := flags.Parse(arguments); err != nil {
			t.Fatal(err)
		}
		if raise(flags); *limit != want {
			t.Errorf("%v: %d tests run at once, want %d", arguments, *limit, want)
		}
	}
}
