//go:build long

package histories

// repairing: rows are made to differ and repaired on the way.
const repairing = true
