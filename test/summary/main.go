// Command summary reads the output of `go test -json` and writes a summary: failures
// at once, a line per package, and in the last line the numbers of tests that passed,
// failed and were skipped.
//
//	go test -json ./... | go run ./test/summary
//
// It counts each test without subtests, and each subtest. A package that fails although
// none of its tests failed (it did not build, took too long, or its process died) counts
// as one failure. So does each line that contains the password of the tests' servers. The
// exit status is 1 if anything failed or nothing passed, so that an empty run does not
// look like a successful one.
//
// gotestsum does not replace it: gotestsum counts a test as well as its subtests, and does not search the output for the password.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	good, err := summarise(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
	}
	if !good || err != nil {
		os.Exit(1)
	}
}

// summarise reads the input to its end, and reports whether all tests passed.
func summarise(in io.Reader, out io.Writer) (bool, error) {
	r := newRun(out)
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			return r.finish(), r.err
		}
		if err != nil {
			return false, err
		}
	}
}

// event is an event as described by `go doc cmd/test2json` and `go help buildjson`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// line handles one line of the input. A line that isn't an event is passed on, because it may explain why there
// are none.
func (r *run) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.say("%s", line)
		return
	}
	r.event(e)
}
