//go:build !long

package protocol

// pairsLeftOut is the number of pairs of which one is tried.
const pairsLeftOut = 211
