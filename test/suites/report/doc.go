// Package report reads what test runners write about their cases: reports of JUnit's format, output of the Test Anything Protocol, of
// go test -json and of minitest, and files with a line for each case.
//
// It owns the formats. It never runs anything.
package report
