//go:build !long

package switchover

// rebuilding has a server made anew that has transactions of its own.
const rebuilding = false
