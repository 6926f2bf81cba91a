//go:build long

package trust

const mostValues = 500_000
