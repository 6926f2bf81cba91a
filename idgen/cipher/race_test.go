//go:build race

package cipher

const raceEnabled = true
