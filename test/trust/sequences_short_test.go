//go:build !long

package trust

// sequences are how many are said on each engine.
const sequences = 30
