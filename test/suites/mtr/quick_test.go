//go:build !long

package mtr

// quick runs the cases that are marked so.
const quick = true
