//go:build !long

package trust

// moreQueries are tried in the long form.
func moreQueries() []attack { return nil }
