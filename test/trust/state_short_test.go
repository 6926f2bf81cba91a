//go:build !long

package trust

// oneOfSoMany combinations of kinds and ways is tried, others on one connection than on
// some: each kind by some ways, and each way with some kinds.
const oneOfSoMany = 8
