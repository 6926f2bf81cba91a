//go:build !long

package switchover

// rebuilding has a MySQL cloned that has transactions of its own.
const rebuilding = false
