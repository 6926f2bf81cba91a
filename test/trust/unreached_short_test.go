//go:build !long

package trust

const usualStatements = 1_000
