package mtr

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/test/suites/stand"
)

// suite is the installed test suite of MariaDB.
type suite struct {
	dir       string // the directory that contains main/, include/ and suite/
	program   string // the client that runs a case
	libraries string // where the client finds those that the machine may lack
}

// installedSuite fails the test where the suite is missing.
func installedSuite(t *testing.T) suite {
	t.Helper()
	root := stand.Installed(t, "mtr")
	libraries, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	if err != nil {
		t.Fatal(err)
	}
	return suite{
		dir:       filepath.Join(root, "usr/share/mysql/mysql-test"),
		program:   filepath.Join(root, "usr/bin/mariadb-test"),
		libraries: strings.Join(libraries, ":"),
	}
}

// testCase is one case. It names files relative to the suite's directory.
type testCase struct {
	name         string // main.select, innodb.foreign_key
	test, result string
	home         string // the directory of the suite it belongs to
}

// find gives a case by its name.
func (s suite) find(name string) (testCase, error) {
	of, short, ok := strings.Cut(name, ".")
	if !ok {
		return testCase{}, fmt.Errorf("case %q: not of the form suite.case", name)
	}
	home := filepath.Join("suite", of)
	if of == "main" {
		home = "main"
	}
	for _, at := range []struct{ test, result string }{{"", ""}, {"t", "r"}} {
		c := testCase{
			name: name, home: home,
			test:   filepath.Join(home, at.test, short+".test"),
			result: filepath.Join(home, at.result, short+".result"),
		}
		if s.has(c.test) && s.has(c.result) {
			return c, nil
		}
	}
	return testCase{}, fmt.Errorf("case %s: no test with a result in %s", name, filepath.Join(s.dir, home))
}

func (s suite) has(file string) bool {
	_, err := os.Stat(filepath.Join(s.dir, file))
	return err == nil
}

// all lists the names of the cases that a pattern matches.
func (s suite) all(pattern *regexp.Regexp) (names []string, err error) {
	err = filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		short, isTest := strings.CutSuffix(entry.Name(), ".test")
		if err != nil || !isTest || entry.IsDir() {
			return err
		}
		of, err := filepath.Rel(s.dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(of, "suite/"), "/t") + "." + short
		if _, err := s.find(name); err == nil && pattern.MatchString(name) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
