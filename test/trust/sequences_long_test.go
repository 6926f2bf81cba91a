//go:build long

package trust

const sequences = 4000
