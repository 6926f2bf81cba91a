// Package parallel increases the number of parallel tests of a package that run at once.
//
// The testing package runs as many as there are processors. Tests that wait for leases, timeouts or the start
// of a server hardly use a processor, so more of them can wait at the same time.
package parallel

import "flag"

const (
	name   = "test.parallel"
	atOnce = "16"
)

// Raise sets the limit to 16, unless the run has the flag -parallel. It is for the TestMain of a package, before it runs the tests.
func Raise() {
	flag.Parse()
	raise(flag.CommandLine)
}

func raise(flags *flag.FlagSet) {
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	if err := flags.Set(name, atOnce); err != nil {
		panic(err)
	}
}
