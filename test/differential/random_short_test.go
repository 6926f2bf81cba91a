//go:build !long

package differential

// usualStatements is how many are run on each engine where the environment does not
// say.
const usualStatements = 2000
