//go:build long

package trust

const usualStatements = 100_000
