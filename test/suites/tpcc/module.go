package tpcc

import (
	"regexp"

	"locus/test/suites/gomodule"
)

// Module is go-tpc.
var Module = gomodule.Module{
	Path: "github.com/pingcap/go-tpc", Version: "v1.0.12",
	Sum: "h1:dsggDwLlrFIrbA6J2iejyUfJ9hnm139iRSrwOnNxwqA=",
}

// Database is where its tables are.
const Database = "tpcc"

// Complaint matches an error that the program prints before it continues.
var Complaint = regexp.MustCompile(`(?im)^.*(failed|error|panic|err ).*$`)
