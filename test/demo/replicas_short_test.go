//go:build !long

package demo

import "locus/cmd/dbserver"

// replicated are the engines of TestReplicas and TestHotGenesAreFoundAndMoved, which take long.
var replicated = []dbserver.Engine{dbserver.MariaDB}
