// Package gomodule runs the tests that Go modules bring along, as suites of a
// stand.
//
// It owns getting a module, copying it to where its tests may write, and reading
// what `go test -json` says. It never changes a module, and none of them becomes
// a dependency of this one.
package gomodule
