//go:build !long

package stand

// all has suites run on every engine.
const all = false
