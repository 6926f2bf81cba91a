package main

import (
	"encoding/json"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// stream writes events as `go test -json` does, each as "action test output"
// about package p; a dash is the package itself.
func stream(t *testing.T, lines ...string) string {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		fields := strings.SplitN(line, " ", 3)
		e := map[string]any{"Action": fields[0], "Package": "p", "Elapsed": 1.5}
		if fields[1] != "-" {
			e["Test"] = fields[1]
		}
		if len(fields) == 3 {
			e["Output"] = fields[2] + "\n"
		}
		encoded, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(encoded, '\n'))
	}
	return text.String()
}

func TestSummary(t *testing.T) {
	for name, test := range map[string]struct {
		in    string
		good  bool
		last  string
		says  string
		hides string
	}{
		"a pass is quiet": {
			in:   stream(t, "start -", "run A", "output A noise", "pass A", "pass -"),
			good: true, last: "1 passed, 0 failed, 0 skipped", says: "ok   p: 1 passed", hides: "noise",
		},
		"a failure shows its output": {
			in:   stream(t, "start -", "run A", "output A === RUN   A", "output A the reason", "fail A", "fail -"),
			last: "0 passed, 1 failed, 0 skipped", says: "FAIL p A\nthe reason\n", hides: "=== RUN",
		},
		"a skip is counted and shows why": {
			in:   stream(t, "start -", "run A", "pass A", "run B", "output B the excuse", "skip B", "pass -"),
			good: true, last: "1 passed, 0 failed, 1 skipped", says: "skip p B\nthe excuse\n",
		},
		"a password that is told": {
			in:   stream(t, "start -", "run A", "output A login locus:"+servers.Password+"@tcp", "pass A", "pass -"),
			last: "1 passed, 1 failed, 0 skipped", says: "FAIL p A tells the password",
		},
		"skips alone are no success": {
			in:   stream(t, "start -", "run A", "skip A", "pass -"),
			last: "0 passed, 0 failed, 1 skipped", says: "no test passed",
		},
		"subtests count in place of their test": {
			in: stream(t, "start -", "run A", "run A/b", "run A/c/d", "run A/b/e", "fail A/b/e", "fail A/b", "pass A/c/d", "fail A",
				"run Z", "run Z/y", "pass Z/y", "pass Z", "fail -"),
			last: "2 passed, 1 failed, 0 skipped",
		},
		"a test that fails beside its subtests": {
			in:   stream(t, "start -", "run A", "run A/b", "pass A/b", "fail A", "fail -"),
			last: "1 passed, 1 failed, 0 skipped",
		},
		"a package that fails though its tests pass": {
			in:   stream(t, "start -", "run A", "pass A", "output - found unexpected goroutines", "fail -"),
			last: "1 passed, 1 failed, 0 skipped", says: "found unexpected goroutines",
		},
		"a package that does not build": {
			in: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: undefined\n"}` + "\n" +
				stream(t, "start -", "output - FAIL p [build failed]", "fail -"),
			last: "0 passed, 1 failed, 0 skipped", says: "p.go:1: undefined",
		},
		"a test that never ends": {
			in:   stream(t, "start -", "run A", "run A/b", "output A/b last words", "fail -"),
			last: "0 passed, 1 failed, 0 skipped", says: "FAIL p A/b: it did not finish\nlast words\n",
		},
		"a stream that is cut": {
			in:   stream(t, "start -", "run A", "pass A"),
			last: "1 passed, 1 failed, 0 skipped", says: "the stream ends before",
		},
		"no tests": {
			in:   stream(t, "start -", "output - ? p [no test files]", "skip -"),
			last: "0 passed, 0 failed, 0 skipped", says: "no test passed",
		},
		"nothing": {last: "0 passed, 0 failed, 0 skipped", says: "no test passed"},
		"not JSON": {
			in:   "go: something is wrong\n" + stream(t, "start -", "run A", "pass A", "pass -"),
			good: true, last: "1 passed, 0 failed, 0 skipped", says: "go: something is wrong\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			good, err := summarise(strings.NewReader(test.in), &out)
			if err != nil {
				t.Fatal(err)
			}
			if good != test.good {
				t.Errorf("good is %v, want %v", good, test.good)
			}
			if !strings.HasSuffix("\n"+out.String(), "\n"+test.last+"\n") {
				t.Errorf("the last line is not %q", test.last)
			}
			if !strings.Contains(out.String(), test.says) || test.hides != "" && strings.Contains(out.String(), test.hides) {
				t.Errorf("want %q and not %q", test.says, test.hides)
			}
			if t.Failed() {
				t.Log("\n" + out.String())
			}
		})
	}
}

func TestLongOutputLosesItsBeginning(t *testing.T) {
	var long tail
	for range tailBytes {
		long.add("first\n")
	}
	long.add("last\n")
	if text := long.text(); len(text) > tailBytes+10 || !strings.HasPrefix(text, "…\n") || !strings.HasSuffix(text, "last\n") {
		t.Errorf("%d bytes, %.20q…", len(text), text)
	}
}
