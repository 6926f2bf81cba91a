//go:build long

package protocol

// pairsLeftOut is one, so that all pairs are tried.
const pairsLeftOut = 1
