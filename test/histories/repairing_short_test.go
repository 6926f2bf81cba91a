//go:build !long

package histories

// repairing takes several comparisons of all rows; repairs have tests of their own in test/moves and test/demo.
const repairing = false
