package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"locus/test/suites/stand"
)

// Name makes a case's name of its class's and its own.
type Name func(class, name string) string

// JUnit reads a report of JUnit's format. A missing report fails the test: the runner did not end.
func JUnit(t testing.TB, path string, name Name) stand.Outcomes {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Errorf("no report of the suite: %v", err)
		return nil
	}
	defer file.Close()
	outcomes, err := parseJUnit(file, name)
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return outcomes
}

type testCase struct {
	Class   string  `xml:"classname,attr"`
	Name    string  `xml:"name,attr"`
	Failure *result `xml:"failure"`
	Error   *result `xml:"error"`
	Skipped *result `xml:"skipped"`
}

type result struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// parseJUnit reads the cases at any depth of nested suites. If two cases have the same name, the outcome is passed only if both passed.
func parseJUnit(in io.Reader, name Name) (stand.Outcomes, error) {
	outcomes := stand.Outcomes{}
	decoder := xml.NewDecoder(in)
	decoder.Strict = false // PHP includes the output of its tests, which may be invalid
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return outcomes, nil
		}
		if err != nil {
			return outcomes, fmt.Errorf("read the report: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "testcase" {
			continue
		}
		var c testCase
		if err := decoder.DecodeElement(&c, &start); err != nil {
			return outcomes, fmt.Errorf("read a case: %w", err)
		}
		key := name(c.Class, c.Name)
		if before, twice := outcomes[key]; !twice || before.State == stand.Passed {
			outcomes[key] = c.outcome()
		}
	}
}

func (c testCase) outcome() stand.Outcome {
	switch {
	case c.Failure != nil:
		return stand.Outcome{State: stand.Failed, Detail: c.Failure.detail()}
	case c.Error != nil:
		return stand.Outcome{State: stand.Failed, Detail: c.Error.detail()}
	case c.Skipped != nil:
		return stand.Outcome{State: stand.Skipped, Detail: c.Skipped.Message}
	}
	return stand.Outcome{State: stand.Passed}
}

func (r result) detail() string {
	if text := strings.TrimSpace(r.Text); text != "" {
		return text
	}
	return r.Message
}
