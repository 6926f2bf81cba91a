// Package gomodule runs the tests that Go modules bring along, as suites of a
// stand.
//
// It owns getting a module, and copying it to where its tests may write. It never changes a module, and none of them becomes
// a dependency of this one.
package gomodule
