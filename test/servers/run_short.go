//go:build !long

package servers

// Long tells the run that has the tag long, in which nothing is left out.
const Long = false
