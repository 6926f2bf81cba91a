//go:build !long

package trust

const usualSoups = 20_000
