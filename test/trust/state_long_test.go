//go:build long

package trust

// oneOfSoMany: all combinations are tried.
const oneOfSoMany = 1
