//go:build !long

package trust

// mostValues stand in one list.
const mostValues = 100_000
