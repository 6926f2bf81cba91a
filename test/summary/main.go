// Command summary reads the output of `go test -json` and writes what a person
// wants of it: what fails as soon as it fails, a line per package, and at the
// end, on a line of its own, how many tests passed, failed and were skipped.
//
//	go test -json ./... | go run ./test/summary
//
// It counts what has an outcome of its own: a test, or each of its subtests in
// place of the test. A package that ends badly though no test of it failed (it
// did not build, ran out of time, lost its process) counts as one failure, and so
// does each line that tells the password of tests' servers, whoever says it. The
// exit status is 1 when anything failed and when nothing passed at all, so that
// an empty run is not taken for a good one.
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

// summarise reads to the end and tells whether all is well.
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

// event is what `go doc cmd/test2json` and `go help buildjson` describe.
type event struct {
	Action     string
	Package    string
	ImportPath string // of build events
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// line takes one line of the stream. What is no event is somebody's word about
// why there are none, and is passed on.
func (r *run) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		r.say("%s", line)
		return
	}
	r.event(e)
}
