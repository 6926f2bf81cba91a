//go:build long

package demo

import "locus/cmd/dbserver"

// replicated are the engines of TestReplicas.
var replicated = dbserver.Engines()
