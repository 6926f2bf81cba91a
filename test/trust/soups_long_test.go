//go:build long

package trust

const usualSoups = 3_000_000
